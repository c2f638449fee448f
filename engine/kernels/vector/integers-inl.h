// SPDX-License-Identifier: Apache-2.0
// Attention with integer weights (kernels/kernels.h): the weights of a query, and their products with the values of two
// keys at a time.

namespace goldcrest { namespace {
// weights [n], n % 16 == 0, scores of a query <- e^(score - largest) times scales_of(t), 16 value scales, in magnitude.
template <typename ScalesOf>
inline IntegerScales scale_exponentials(float* weights, size_t n, float largest, ScalesOf scales_of) {
  V sum = set(0.0f), scaled_sum = sum, largest_scaled = sum;
  for_exponentials<true>(weights, n, set(largest), [&](size_t t, V e) {
    const V scaled = e * negate(negative(scales_of(static_cast<uint32_t>(t))));
    store(weights + t, scaled);
    sum = sum + e;
    scaled_sum = scaled_sum + scaled;
    largest_scaled = max_magnitude(largest_scaled, scaled);
  });
  const IntegerScales scales =
      integer_scales(largest_bits(largest_scaled), sum_lanes(scaled_sum), 1.0f / sum_lanes(sum));
  if (scales.to_integer == 0.0f) memset(weights, 0, n * sizeof *weights);  // they need not be numbers
  return scales;
}

// Where the integers of a query's weights are stored.
inline int16_t* integers_at(float* weights) { return reinterpret_cast<int16_t*>(weights); }

// The integers <- weights [n] of scale_exponentials, which they overwrite from the first on.
inline void store_integers(float* weights, size_t n, float to_integer) {
  for (size_t t = 0; t < n; t += 16) store_int16(integers_at(weights) + t, load(weights + t) * set(to_integer));
}

struct IntegerQuery {
  const int16_t* weights;  // [n_keys]
  float* out;              // its first column
  float factor;            // IntegerScales::from_sum
};

struct KeyRange {
  uint32_t begin, end;
  bool is_last;  // the sums become outputs
};

// Adds the products of some keys for kVectors * 16 columns of kQueries. Between calls, out holds int32 sums, unless
// keys.begin is 0. row_of(t): the values of key t
template <int kQueries, int kVectors, typename RowOf>
inline void add_integer_products(const RowOf& row_of, const KeyRange& keys, const IntegerQuery* queries) {
  Sums sums[kQueries][kVectors] = {};
  for (int i = 0; i < kQueries && keys.begin != 0; ++i)
    for (int j = 0; j < kVectors; ++j) sums[i][j] = load_sums(queries[i].out + 16 * j);
  const auto add = [&](const int8_t* row, const int8_t* next, uint32_t t, auto mask) __attribute__((always_inline)) {
    unrolled<kVectors>([&](int j) {
      const Pairs values = load_pairs(row + 16 * j, next + 16 * j);
      unrolled<kQueries>([&](int i) {
        const int32_t weights = load_word(reinterpret_cast<const int8_t*>(queries[i].weights + t)) & mask();
        sums[i][j] = add_pairs(sums[i][j], values, weights);
      });
    });
  };
  uint32_t t = keys.begin;
  for (; t + 2 <= keys.end; t += 2) {
    const int8_t* const row = row_of(t);
    add(row, row_of(t + 1), t, [] { return -1; });
  }
  if (t < keys.end) {  // the last key again, with a weight of 0
    const int8_t* const row = row_of(t);
    add(row, row, t, [] { return 0xffff; });
  }
  for (int i = 0; i < kQueries; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      float* const out = queries[i].out + 16 * j;
      if (keys.is_last) store(out, to_floats(sums[i][j]) * set(queries[i].factor));
      else store_sums(out, sums[i][j]);
    }
  }
}
}}  // namespace goldcrest
