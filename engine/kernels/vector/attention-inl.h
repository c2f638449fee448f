// SPDX-License-Identifier: Apache-2.0
// Attention over int8 keys and values, on the vectors of vector/kernels-inl.h. A few queries go through each phase
// together: their latencies overlap, and rows of one head share the work of reading values.

namespace goldcrest {
namespace {

// The queries that go together need memory of their own, about 8 KB of the stack: this file is for CPUs that run an
// operating system.
constexpr uint32_t kMaxQueries = 4, kMaxWeights = 1024, kMaxHead = 128, kMaxCommon = 256;

// One row of one head, and where its keys and values lie.
template <bool kAncestors>
struct Query {
  const int8_t* keys;
  const int8_t* values;
  const float* key_scales;
  const float* value_scales;
  const uint8_t* ancestor;  // of the row
  size_t position_stride, ancestor_stride;
  int8_t* q;  // [d_head]
  float q_scale;
  float* weights;                                        // [n_keys padded to 16]
  float* out;                                            // [d_head]
  uint32_t n_common;                                     // keys of which this is known:
  const uint32_t* common_keys;                           // [n_common], where they lie, from `keys` on
  const float *common_key_scales, *common_value_scales;  // [n_common]
  bool far_apart;
  size_t to_value, to_later_key;  // bytes from a key to its value, and to the key of a query some heads later

  size_t at(uint32_t t) const {
    if constexpr (kAncestors) return t * position_stride + ancestor[t * ancestor_stride];
    return t * position_stride;
  }

  void prefetch_around(const int8_t* key) const {
    prefetch(key, to_value);
    prefetch(key, to_later_key);
  }

  // The scales of keys t to t + n - 1, n <= 16; zeros behind them. common: those of the first n_common keys, in a row.
  V gather(const float* scales, const float* common, uint32_t t, uint32_t n) const {
    if (t + 16 <= n_common) return load(common + t);
    if (!kAncestors && position_stride == 1) return n == 16 ? load(scales + t) : load_first(scales + t, n);
    float lanes[16] = {};
    for (uint32_t i = 0; i < n; ++i) lanes[i] = scales[at(t + i)];
    return load(lanes);
  }
};

// From this many bytes between one position and the next the CPU does not foresee what is read: each query, or one for
// all with the same keys, asks for its values and for a later one's keys while it goes through its own keys. They come
// from memory, since between two calls all the weights of a model pass through the caches.
constexpr size_t kFarApart = 256;

// Query number `index` of [n_heads, rows], quantized into q [d_head].
template <bool kAncestors>
inline Query<kAncestors> make_query(const AttentionArgs<int8_t>& args, uint32_t index, int8_t* q, float* weights) {
  const uint32_t head = index / args.rows, row = index % args.rows;
  const size_t head_at = head * args.head_stride, column = size_t{head} * args.d_head;
  Query<kAncestors> query = {args.keys + head_at * args.d_head,
                             args.values + head_at * args.d_head,
                             args.key_scales + head_at,
                             args.value_scales + head_at,
                             kAncestors ? args.ancestor + row : nullptr,
                             args.position_stride,
                             args.ancestor_stride,
                             q,
                             0.0f,
                             weights,
                             args.out + row * args.out_stride + column,
                             0,
                             nullptr,
                             nullptr,
                             nullptr,
                             args.position_stride * args.d_head >= kFarApart,
                             reinterpret_cast<uintptr_t>(args.values) - reinterpret_cast<uintptr_t>(args.keys),
                             args.head_stride * args.d_head * ((kMaxQueries + args.rows - 1) / args.rows)};
  quantize_rows(
      {args.q + row * args.q_stride + column, q, &query.q_scale, args.d_head, args.d_head, 1, 1, args.d_head});
  return query;
}

inline uint32_t keys_of_block(uint32_t n_keys, uint32_t t) { return n_keys - t < 16 ? n_keys - t : 16; }

// The products with n keys, 1 <= n <= 16; any numbers behind them.
template <typename Key>
inline V dot_keys(const int8_t* q, const Key& key, uint32_t n, uint32_t d_head) {
  FourDots dots[4] = {};
  uint32_t i = 0;
  for (; i + 4 <= n; i += 4) dots[i / 4] = dot_four(q, {key(i), key(i + 1), key(i + 2), key(i + 3)}, d_head);
  if (i < n) {  // the last key again where there are fewer than four
    const uint32_t last = n - 1;
    dots[i / 4] =
        dot_four(q, {key(i), key(i + 1 < n ? i + 1 : last), key(i + 2 < n ? i + 2 : last), key(last)}, d_head);
  }
  return join(dots);
}

// The products with keys t to t + n - 1.
template <bool kAncestors>
inline V query_products(const Query<kAncestors>& query, uint32_t t, uint32_t n, uint32_t d_head) {
  if (kAncestors && t + n <= query.n_common) {
    const uint32_t* keys = query.common_keys + t;
    return dot_keys(
        query.q, [&](uint32_t i) { return query.keys + keys[i]; }, n, d_head);
  }
  const auto key = [&](uint32_t i) {
    const int8_t* row = query.keys + query.at(t + i) * d_head;
    if (query.far_apart) query.prefetch_around(row);
    return row;
  };
  return dot_keys(query.q, key, n, d_head);
}

// Scores, then soft-max, times the value scales, in query.weights.
template <bool kAncestors>
inline void attention_weights(const AttentionArgs<int8_t>& args, const Query<kAncestors>& query) {
  const V none = set(-__builtin_huge_valf());  // e^-inf adds nothing
  V largest = none;
  for (uint32_t t = 0; t < args.n_keys; t += 16) {
    const uint32_t n = keys_of_block(args.n_keys, t);
    const V products = query_products(query, t, n, args.d_head);
    const V all = (products * (set(query.q_scale) * query.gather(query.key_scales, query.common_key_scales, t, n))) *
                  set(args.scale);
    const V scores = n == 16 ? all : select(first_lanes(n), all, none);
    store(query.weights + t, scores);
    largest = select(greater(scores, largest), scores, largest);
  }
  const V shift = set(largest_lane(largest));
  V sum = set(0.0f);
  for_exponentials(query.weights, (args.n_keys + 15) / 16 * 16, shift, [&](uint32_t t, V e) {
    store(query.weights + t, e);
    sum = sum + e;
  });
  const V inverse = set(1.0f / sum_lanes(sum));
  for (uint32_t t = 0; t < args.n_keys; t += 16) {
    const V value_scales =
        query.gather(query.value_scales, query.common_value_scales, t, keys_of_block(args.n_keys, t));
    store(query.weights + t, (load(query.weights + t) * inverse) * value_scales);
  }
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for keys [begin, end) and kVectors * 16 columns of
// kQueries with the same values; continues what keys before `begin` left in out.
template <int kQueries, int kVectors, bool kAncestors>
inline void add_columns(const AttentionArgs<int8_t>& args, const Query<kAncestors>* queries, uint32_t begin,
                        uint32_t end, uint32_t first) {
  V sum[kQueries][kVectors];
  const float* weights[kQueries];
  for (int i = 0; i < kQueries; ++i) {
    weights[i] = queries[i].weights;
    for (int j = 0; j < kVectors; ++j) sum[i][j] = begin == 0 ? set(0.0f) : load(queries[i].out + first + 16 * j);
  }
  for (uint32_t t = begin; t < end; ++t) {
    const int8_t* row = queries->values + queries->at(t) * args.d_head + first;
    for (int j = 0; j < kVectors; ++j) {
      const V value = load_int8(row + 16 * j);
      for (int i = 0; i < kQueries; ++i) sum[i][j] = sum[i][j] + set(weights[i][t]) * value;
    }
  }
  for (int i = 0; i < kQueries; ++i) {
    for (int j = 0; j < kVectors; ++j) store(queries[i].out + first + 16 * j, sum[i][j]);
  }
}

template <int kQueries, int kVectors, bool kAncestors>
inline void add_values(const AttentionArgs<int8_t>& args, const Query<kAncestors>* queries, uint32_t begin,
                       uint32_t end) {
  uint32_t column = 0;
  for (; column + 16 * kVectors <= args.d_head; column += 16 * kVectors)
    add_columns<kQueries, kVectors>(args, queries, begin, end, column);
  for (; column < args.d_head; column += 16) add_columns<kQueries, 1>(args, queries, begin, end, column);
}

// How many first keys n queries have in common: hypotheses of a beam share their past up to where they part.
template <bool kAncestors>
inline uint32_t count_common_keys(const AttentionArgs<int8_t>& args, const Query<kAncestors>* queries, uint32_t n) {
  if (queries[0].values != queries[n - 1].values) return 0;
  if constexpr (!kAncestors) return args.n_keys;
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const uint8_t* slots = queries[0].ancestor + t * args.ancestor_stride;
    for (uint32_t i = 1; i < n; ++i) {
      if (slots[i] != slots[0]) return t;
    }
  }
  return args.n_keys;
}

template <bool kAncestors>
inline void attention_values(const AttentionArgs<int8_t>& args, const Query<kAncestors>* queries, uint32_t n,
                             uint32_t n_common) {
  if (n_common != 0 && n == 4) add_values<4, kValueVectorsOf4>(args, queries, 0, n_common);
  if (n_common != 0 && n == 2) add_values<2, kValueVectorsOf2>(args, queries, 0, n_common);
  if (n_common == args.n_keys) return;
  for (uint32_t i = 0; i < n; ++i) add_values<1, kValueVectorsOf1>(args, queries + i, n_common, args.n_keys);
}

// Keys that some queries have in common, and their scales.
struct CommonKeys {
  uint32_t keys[kMaxCommon];
  float key_scales[kMaxCommon], value_scales[kMaxCommon];
};

template <bool kAncestors>
inline void gather_common(Query<kAncestors>* queries, uint32_t n, uint32_t n_common, uint32_t d_head,
                          CommonKeys& common) {
  const Query<kAncestors> first = queries[0];  // a copy, which the stores cannot change
  const uint32_t count = (n_common < kMaxCommon ? n_common : kMaxCommon) / 16 * 16;  // whole blocks
  for (uint32_t t = 0; t < count; ++t) {
    const size_t at = first.at(t);
    common.keys[t] = static_cast<uint32_t>(at * d_head);
    common.key_scales[t] = first.key_scales[at];
    common.value_scales[t] = first.value_scales[at];
    if (first.far_apart) first.prefetch_around(first.keys + at * d_head);
  }
  for (uint32_t i = 0; i < n; ++i) {
    queries[i].n_common = count;
    queries[i].common_keys = common.keys;
    queries[i].common_key_scales = common.key_scales;
    queries[i].common_value_scales = common.value_scales;
  }
}

template <bool kAncestors>
inline void attention_queries(const AttentionArgs<int8_t>& args, uint32_t n_together, int8_t* q_rows, float* weights) {
  const uint32_t n_queries = args.n_heads * args.rows, padded_keys = (args.n_keys + 15) / 16 * 16;
  const bool all_alike = args.rows == n_together;  // each time all rows of a head
  uint32_t n_common = 0;
  for (uint32_t first = 0; first < n_queries; first += n_together) {
    const uint32_t n = n_queries - first < n_together ? n_queries - first : n_together;
    Query<kAncestors> queries[kMaxQueries];
    for (uint32_t i = 0; i < n; ++i)
      queries[i] = make_query<kAncestors>(args, first + i, q_rows + i * args.d_head, weights + i * padded_keys);
    if (first == 0 || !all_alike) n_common = n == 2 || n == 4 ? count_common_keys(args, queries, n) : 0;
    CommonKeys common;
    if (kAncestors) gather_common(queries, n, n_common, args.d_head, common);
    for (uint32_t i = 0; i < n; ++i) attention_weights(args, queries[i]);
    attention_values(args, queries, n, n_common);
  }
}

void attention(const AttentionArgs<int8_t>& args) {
  const uint32_t padded_keys = (args.n_keys + 15) / 16 * 16;
  int8_t q_rows[kMaxQueries * kMaxHead];
  float weights[kMaxWeights];
  const bool fits = args.d_head <= kMaxHead && 2 * padded_keys <= kMaxWeights;
  const uint32_t n_together = !fits ? 1 : kMaxQueries * padded_keys <= kMaxWeights ? kMaxQueries : 2;
  int8_t* const q = fits ? q_rows : args.q_row;
  float* const w = fits ? weights : args.weights;
  if (args.ancestor != nullptr)
    attention_queries<true>(args, n_together, q, w);
  else
    attention_queries<false>(args, n_together, q, w);
}

}  // namespace
}  // namespace goldcrest
