// SPDX-License-Identifier: Apache-2.0
// Sums values with integer weights for queries that share them (vector/shared_attention-inl.h), two keys at a time.

namespace goldcrest { namespace {
constexpr uint32_t kKeysOfIntegers = 256;  // their values stay in the first-level cache for all queries

// Adds the products of some keys for kQueries from row i on.
template <int kQueries, int kVectors>
inline void add_products_of_rows(
    const SharedGroup& group, const IntegerScales* scales, uint32_t i, const KeyRange& keys) {
  const AttentionArgs<int8_t>& args = group.args;
  IntegerQuery queries[kQueries];
  for (uint32_t r = 0; r < kQueries; ++r)
    queries[r] = {integers_at(group.weights + size_t{i + r} * group.padded_keys), args.out + (i + r) * args.out_stride,
        scales[i + r].from_sum};
  uint32_t column = 0;
  const auto row_of = [&](uint32_t t) { return args.values + size_t{t} * args.d_head + column; };
  const auto advance = [&](uint32_t columns) {
    column += columns;
    for (IntegerQuery& query : queries) query.out += columns;
  };
  for (; column + 16 * kVectors <= args.d_head; advance(16 * kVectors))
    add_integer_products<kQueries, kVectors>(row_of, keys, queries);
  for (; column < args.d_head; advance(16)) add_integer_products<kQueries, 1>(row_of, keys, queries);
}

template <void (*kLinear)(const LinearArgs<int8_t>&)>
__attribute__((noinline)) void sum_integers_together(const SharedGroup& group, const IntegerScales* scales) {
  const uint32_t rows = group.args.rows, n_keys = group.args.n_keys;
  for (uint32_t i = 0; i < rows; ++i)
    store_integers(group.weights + size_t{i} * group.padded_keys, group.padded_keys, scales[i].to_integer);
  for (uint32_t first = 0; first < n_keys; first += kKeysOfIntegers) {
    const bool is_last = n_keys - first <= kKeysOfIntegers;
    const KeyRange keys = {first, is_last ? n_keys : first + kKeysOfIntegers, is_last};
    uint32_t i = 0;
    for (; i + kPairRows <= rows; i += kPairRows) add_products_of_rows<kPairRows, kPairVectors>(group, scales, i, keys);
    for (; i + 4 <= rows; i += 4) add_products_of_rows<4, kValueVectorsOf4>(group, scales, i, keys);
    for (; i + 2 <= rows; i += 2) add_products_of_rows<2, kValueVectorsOf2>(group, scales, i, keys);
    if (i < rows) add_products_of_rows<1, kValueVectorsOf1>(group, scales, i, keys);
  }
}
}}  // namespace goldcrest
