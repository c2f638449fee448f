// SPDX-License-Identifier: Apache-2.0
// Attention over int8 keys and values, on the vectors of vector/kernels-inl.h. A few queries pass each phase together:
// their latencies overlap, and rows of one head share the work of reading values.

namespace goldcrest { namespace {
inline uint32_t keys_of_block(uint32_t n_keys, uint32_t t) { return n_keys - t < 16 ? n_keys - t : 16; }

// Returns the products of d_head elements with n keys, 1 <= n <= 16, with arbitrary numbers after them.
template <typename Key> inline V dot_keys(const int8_t* q, const Key& key, uint32_t n, uint32_t d_head) {
  FourDots dots[4];
  if (n == 16) {
    unrolled<4>([&](int four) {
      const uint32_t i = 4 * static_cast<uint32_t>(four);
      dots[four] = dot_four(q, {key(i), key(i + 1), key(i + 2), key(i + 3)}, d_head);
    });
    return join(dots);
  }
  unrolled<4>([&](int four) { dots[four] = FourDots(); });
  const uint32_t last = n - 1;  // repeated if fewer than four are left
  for (uint32_t i = 0; i < n; i += 4) {
    dots[i / 4] = dot_four(q,
        {key(i), key(i < last ? i + 1 : last), key(i + 1 < last ? i + 2 : last), key(i + 2 < last ? i + 3 : last)},
        d_head);
  }
  return join(dots);
}

// The same for a query and keys of 16 bits. q: high, low, high
template <bool kFine, typename Key> inline V dot_rows(const int8_t* q, const Key& key, uint32_t n, uint32_t d_head) {
  if constexpr (!kFine) return dot_keys(q, key, n, d_head);
  const V mixed = dot_keys(q + d_head, key, n, 2 * d_head);
  return (dot_keys(q, key, n, d_head) * set(kHighStep) + mixed) * set(kHighStep);
}

// Returns the products with keys t to t + n - 1.
template <typename Kind> inline V query_products(const Group<Kind>& group, const Query& query, uint32_t t, uint32_t n) {
  const uint32_t d_head = group.args.d_head;
  if (Kind::kAncestors && t + n <= group.n_gathered) {
    const uint32_t* keys = group.places_of(query, t).keys + t;
    return dot_rows<Kind::kFine>(
        query.q, [&](uint32_t i) { return query.keys + keys[i]; }, n, d_head);
  }
  return dot_rows<Kind::kFine>(
      query.q, [&](uint32_t i) { return query.keys + group.at(query, t + i) * group.key_bytes; }, n, d_head);
}

// Writes a query's scores, with -infinity after them. Returns the largest score of each lane.
template <typename Kind> inline V score_keys(const Group<Kind>& group, const Query& query) {
  const V none = set(-__builtin_huge_valf());  // e^-inf adds nothing
  const uint32_t n_keys = group.args.n_keys;
  V largest = none;
  for (uint32_t t = 0; t < n_keys; t += 16) {
    const uint32_t n = keys_of_block(n_keys, t);
    const V products = query_products(group, query, t, n);
    V all = (products * (set(query.q_scale) * group.scales(query, query.key_scales, &Places::key_scales, t, n))) *
            set(group.args.scale);
    if (query.bias != nullptr) all = all + load(query.bias + t);
    const V scores = n == 16 ? all : select(first_lanes(n), all, none);
    store(query.weights + t, scores);
    largest = larger(scores, largest);
  }
  return largest;
}

// The weights of all queries <- their scores, after soft-max, times the value scales. All queries take a step before
// the next step begins: steps depend on each other, queries do not.
template <typename Kind> __attribute__((noinline, flatten)) void attention_weights(const Group<Kind>& group) {
  V lanes[kMaxQueries];
  float largest[kMaxQueries], inverse[kMaxQueries];
  for (uint32_t i = 0; i < group.n_queries; ++i) lanes[i] = score_keys(group, group.queries[i]);
  for (uint32_t i = 0; i < group.n_queries; ++i) largest[i] = largest_lane(lanes[i]);
  for (uint32_t i = 0; i < group.n_queries; ++i) {
    float* const weights = group.queries[i].weights;
    V sum = set(0.0f);
    for_exponentials(weights, group.padded_keys, set(largest[i]), [&](size_t t, V e) {
      store(weights + t, e);
      sum = sum + e;
    });
    lanes[i] = sum;
  }
  for (uint32_t i = 0; i < group.n_queries; ++i) inverse[i] = 1.0f / sum_lanes(lanes[i]);
  for (uint32_t i = 0; i < group.n_queries; ++i) {
    const Query& query = group.queries[i];
    const V factor = set(inverse[i]);
    for (uint32_t t = 0; t < group.args.n_keys; t += 16) {
      const V value_scales =
          group.scales(query, query.value_scales, &Places::value_scales, t, keys_of_block(group.args.n_keys, t));
      store(query.weights + t, (load(query.weights + t) * factor) * value_scales);
    }
  }
}

// The weights of all queries <- their integers, int16.
template <typename Kind> __attribute__((noinline, flatten)) void integer_weights(Group<Kind>& group) {
  V lanes[kMaxQueries];
  for (uint32_t i = 0; i < group.n_queries; ++i) lanes[i] = score_keys(group, group.queries[i]);
  for (uint32_t i = 0; i < group.n_queries; ++i) {
    Query& query = group.queries[i];
    const IntegerScales scales =
        scale_exponentials(query.weights, group.padded_keys, largest_lane(lanes[i]), [&](uint32_t t) {
          return group.scales(query, query.value_scales, &Places::value_scales, t, keys_of_block(group.args.n_keys, t));
        });
    query.factor = scales.from_sum;
    store_integers(query.weights, group.padded_keys, scales.to_integer);
  }
}

// The same as add_columns below with integer weights.
template <int kQueries, int kVectors, bool kPrefetches, typename Kind>
inline void add_integer_columns(Group<Kind>& group, const Query* queries, uint32_t begin, uint32_t first) {
  IntegerQuery integers[kQueries];
  for (int i = 0; i < kQueries; ++i)
    integers[i] = {integers_at(queries[i].weights), queries[i].out + first, queries[i].factor};
  const int8_t* const values = queries->values + first;
  LaterKeys<Kind> later = group.later;
  const auto row_of = [&](uint32_t t) {
    if constexpr (kPrefetches) later.prefetch_key();
    return values + (Kind::kAncestors && t < group.n_gathered ? queries->places->keys[t]
                                                              : group.at(*queries, t) * group.key_bytes);
  };
  const uint32_t end = kQueries == 1 ? group.args.n_keys : group.n_common;
  add_integer_products<kQueries, kVectors>(row_of, {begin, end, end == group.args.n_keys}, integers);
  if constexpr (kPrefetches) group.later = later;
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for keys [begin, end) and kVectors * 16 columns of
// kQueries with the same values. Adds to the sums that keys before `begin` left in out.
template <int kQueries, int kVectors, bool kPrefetches, typename Kind>
inline void add_columns(Group<Kind>& group, const Query* queries, uint32_t begin, uint32_t first) {
  if constexpr (Kind::kIntegers)
    return add_integer_columns<kQueries, kVectors, kPrefetches>(group, queries, begin, first);
  V sum[kQueries][kVectors];
  const float* weights[kQueries];
  for (int i = 0; i < kQueries; ++i) {
    weights[i] = queries[i].weights;
    for (int j = 0; j < kVectors; ++j) sum[i][j] = begin == 0 ? set(0.0f) : load(queries[i].out + first + 16 * j);
  }
  const int8_t* const values = queries->values + first;
  LaterKeys<Kind> later = group.later;
  const auto add_key = [&](size_t t, const int8_t* row) {
    if constexpr (kPrefetches) later.prefetch_key();
    for (int j = 0; j < kVectors; ++j) {
      V value = load_int8(row + 16 * j);
      if constexpr (Kind::kFine) value = value * set(kHighStep) + load_int8(row + group.args.d_head + 16 * j);
      for (int i = 0; i < kQueries; ++i) sum[i][j] = sum[i][j] + set(weights[i][t]) * value;
    }
  };
  const uint32_t end = kQueries == 1 ? group.args.n_keys : group.n_common;
  uint32_t t = begin;
  if (Kind::kAncestors && begin < group.n_gathered) {
    t = end < group.n_gathered ? end : group.n_gathered;
    const uint32_t* keys = queries->places->keys;
    for (size_t i = begin; i < t; ++i) add_key(i, values + keys[i]);
  }
  for (; t < end; ++t) add_key(t, values + group.at(*queries, t) * group.key_bytes);
  if constexpr (kPrefetches) group.later = later;
  for (int i = 0; i < kQueries; ++i)
    for (int j = 0; j < kVectors; ++j) store(queries[i].out + first + 16 * j, sum[i][j]);
}

// Sums the values of the keys that kQueries share, or those of one query from `begin` on.
template <int kQueries, int kVectors, typename Kind>
inline void add_values(Group<Kind>& group, const Query* queries, uint32_t begin) {
  const uint32_t d_head = group.args.d_head;
  uint32_t column = 0;
  for (; column + 16 * kVectors <= d_head; column += 16 * kVectors)
    if (group.later.n_left != 0) add_columns<kQueries, kVectors, true>(group, queries, begin, column);
    else add_columns<kQueries, kVectors, false>(group, queries, begin, column);
  for (; column < d_head; column += 16) add_columns<kQueries, 1, false>(group, queries, begin, column);
}

template <typename Kind> inline void attention_values(Group<Kind>& group) {
  const uint32_t n = group.n_queries, n_common = group.n_common;
  if (n_common != 0 && n == 4) add_values<4, kValueVectorsOf4>(group, group.queries, 0);
  if (n_common != 0 && n == 2) add_values<2, kValueVectorsOf2>(group, group.queries, 0);
  if (n_common == group.args.n_keys) return;
  for (uint32_t i = 0; i < n; ++i) add_values<1, kValueVectorsOf1>(group, group.queries + i, n_common);
}

template <typename Kind>
inline void attention_queries(
    const AttentionArgs<int8_t>& args, uint32_t n_together, int8_t* q_rows, float* weights, CacheLevel prefetch_to) {
  const bool all_alike = args.rows == n_together;  // every group has all rows of a head
  Group<Kind> group(args, prefetch_to);
  const size_t query_bytes = Kind::kFine ? size_t{3} * args.d_head : args.d_head;
  for (uint32_t i = 0; i < n_together; ++i) {
    group.queries[i].q = q_rows + i * query_bytes;
    group.queries[i].weights = weights + i * group.padded_keys;
    group.queries[i].places = Kind::kAncestors ? group.places + i : nullptr;
  }
  uint32_t head = 0, row = 0;
  while (head < args.n_heads) {
    const bool is_first = head == 0 && row == 0;
    for (group.n_queries = 0; group.n_queries < n_together && head < args.n_heads;) {
      const uint32_t first = group.n_queries, space = n_together - first, rest = args.rows - row;
      const uint32_t rows = rest < space ? rest : space;
      float scales[kMaxQueries];
      int8_t* const q = group.queries[first].q;
      const QuantizeRowsArgs<int8_t> of_head = {args.q + row * args.q_stride + size_t{head} * args.d_head, q, scales,
          args.q_stride, query_bytes, 1, rows, args.d_head};
      if constexpr (Kind::kFine) {
        quantize_fine(of_head);
        for (uint32_t i = 0; i < rows; ++i)
          memcpy(q + i * query_bytes + 2 * args.d_head, q + i * query_bytes, args.d_head);
      } else {
        quantize_rows(of_head);
      }
      for (uint32_t i = 0; i < rows; ++i) {
        group.queries[first + i].q_scale = scales[i];
        start_query(group, head, row + i, group.queries[first + i]);
      }
      group.n_queries += rows;
      row += rows;
      if (row == args.rows) ++head, row = 0;
    }
    if (group.from_memory) group.start_later(head * args.rows + row, n_together);
    const bool is_new = is_first || !all_alike;
    if (is_new) group.n_common = count_common_keys(group);
    for (uint32_t i = 0; Kind::kAncestors && i < group.n_queries; ++i) {
      const uint32_t first = i == 0 ? 0 : group.n_common_in_blocks();
      if (is_new) find_places(group, group.queries[i], first);
      gather_scales(group, group.queries[i], first);
    }
    if constexpr (Kind::kIntegers) integer_weights(group);
    else attention_weights(group);
    attention_values(group);
  }
}

// prefetch_to: the cache that keys and values are prefetched to
template <Numbers kNumbers>
__attribute__((noinline)) void attention_of_queries(const AttentionArgs<int8_t>& args, CacheLevel prefetch_to) {
  const uint32_t padded_keys = (args.n_keys + 15) / 16 * 16;
  int8_t q_rows[kMaxQueries * kMaxHead * (kNumbers == Numbers::kFine ? 3 : 1)];
  float weights[kMaxWeights];
  const bool fits = args.d_head <= kMaxHead && 2 * padded_keys <= kMaxWeights;
  const uint32_t n_together = !fits ? 1 : kMaxQueries * padded_keys <= kMaxWeights ? kMaxQueries : 2;
  int8_t* const q = fits ? q_rows : args.q_row;
  float* const w = fits ? weights : args.weights;
  if (args.ancestor != nullptr) attention_queries<AttentionKind<true, kNumbers>>(args, n_together, q, w, prefetch_to);
  else attention_queries<AttentionKind<false, kNumbers>>(args, n_together, q, w, prefetch_to);
}

// This is half of a table's code; tables with the same vectors share it.
using QueryAttention = void (*)(const AttentionArgs<int8_t>&, Numbers);

template <CacheLevel kPrefetchTo> void query_attention(const AttentionArgs<int8_t>& args, Numbers numbers) {
  if (numbers == Numbers::kFine) return attention_of_queries<Numbers::kFine>(args, kPrefetchTo);
  if (numbers == Numbers::kIntegers) return attention_of_queries<Numbers::kIntegers>(args, kPrefetchTo);
  attention_of_queries<Numbers::kInt8>(args, kPrefetchTo);
}

template <void (*kLinear)(const LinearArgs<int8_t>&), QueryAttention kQueries>
void attention(const AttentionArgs<int8_t>& args) {
  if (shares_keys(args)) return attention_of_groups<kLinear>(args);
  kQueries(args, args.has_integers() ? Numbers::kIntegers : Numbers::kInt8);
}

template <QueryAttention kQueries> void fine_attention(const AttentionArgs<int8_t>& args) {
  kQueries(args, Numbers::kFine);
}
}}  // namespace goldcrest
