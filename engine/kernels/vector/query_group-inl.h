// SPDX-License-Identifier: Apache-2.0
// The queries that attention computes together (vector/attention-inl.h): where their keys are, which keys they share,
// and what is prefetched for the queries behind them.

namespace goldcrest {
namespace {

// The queries of a group need about 20 KB of the stack. Only CPUs that run an operating system use this file.
constexpr uint32_t kMaxQueries = 4, kMaxWeights = 1024, kMaxGathered = 256;

// The rows of gathered keys in their head, their offsets from a query's `keys`, and the scales of keys and values, with
// zeros behind them. Hypotheses choose these keys.
struct Places {
  uint32_t rows[kMaxGathered], keys[kMaxGathered];
  float key_scales[kMaxGathered], value_scales[kMaxGathered];
};

// One row of one head, and its keys and values.
struct Query {
  const int8_t* keys;
  const int8_t* values;
  const float* key_scales;
  const float* value_scales;
  const uint8_t* ancestor;  // of the row
  const float* bias;        // of the row; null: none
  int8_t* q;                // [d_head]
  float q_scale;
  float* weights;  // [n_keys padded to 16]
  float* out;      // [d_head]
  Places* places;
};

// From this many bytes of a layer's keys on, the keys come from memory: between two calls all weights of the model pass
// through the caches. Then each query prefetches the keys and values of a later query while it sums its own values,
// which takes longer than any other phase. The last queries prefetch those of the next sentence, in the slots of this
// one. Its own hypotheses have other slots: in narrow heads mostly in the same cache lines, with 64 columns in others.
// If many rows read the same keys, none prefetches, because only the first few would wait.
constexpr size_t kFromMemory = 65536;

// kAncestors: hypotheses choose the keys. kFine: queries, keys and values have remainders. kPrefetchTo: the cache that
// keys and values are prefetched to.
template <bool kHasAncestors, bool kIsFine, CacheLevel kLevel>
struct AttentionKind {
  static constexpr bool kAncestors = kHasAncestors, kFine = kIsFine;
  static constexpr CacheLevel kPrefetchTo = kLevel;
};

// Queries that are computed together.
template <typename Kind>
struct Group {
  static constexpr bool kAncestors = Kind::kAncestors, kFine = Kind::kFine;

  AttentionArgs<int8_t> args;
  uint32_t padded_keys;
  bool from_memory;
  size_t key_bytes;
  size_t to_value;          // bytes from a key to its value
  size_t to_later = 0;      // rows of the cache from a query's to those of a later query
  size_t to_later_key = 0;  // the same in bytes of keys
  uint32_t n_queries = 0;
  Query queries[kMaxQueries];
  uint32_t n_common = 0;  // leading keys that all share: hypotheses share their past up to where they part
  uint32_t n_gathered;    // leading keys that have places
  // The first query has all its places here; the others only those behind whole blocks of common keys.
  Places places[kAncestors ? kMaxQueries : 1];

  // cppcheck-suppress uninitMemberVar; code reads only the part of the arrays that it has filled
  explicit Group(const AttentionArgs<int8_t>& of)
      : args(of),
        padded_keys((of.n_keys + 15) / 16 * 16),
        from_memory(of.rows <= kMaxQueries && of.n_heads * of.head_stride * of.d_head >= kFromMemory),
        key_bytes(kFine ? size_t{2} * of.d_head : of.d_head),
        to_value(reinterpret_cast<uintptr_t>(of.values) - reinterpret_cast<uintptr_t>(of.keys)),
        n_gathered(!kAncestors                ? 0
                   : of.n_keys < kMaxGathered ? of.n_keys
                                              : kMaxGathered) {}

  uint32_t n_common_in_blocks() const { return n_common / 16 * 16; }

  const Places& places_of(const Query& query, uint32_t t) const {
    return t < n_common_in_blocks() ? places[0] : *query.places;
  }

  size_t at(const Query& query, uint32_t t) const {
    if constexpr (kAncestors) return t * args.position_stride + query.ancestor[t * args.ancestor_stride];
    return t * args.position_stride;
  }

  // Sets the distance to the queries behind this group. is_last: it has the call's last heads; if no call is known to
  // follow, the first heads of the next layer are behind it.
  void set_later(bool is_last) {
    const uint32_t heads = (kMaxQueries + args.rows - 1) / args.rows;  // of a group
    const size_t before = (args.n_heads > heads ? args.n_heads - heads : 0) * args.head_stride;
    to_later = is_last && args.to_next != 0 ? args.to_next - before : heads * args.head_stride;
    to_later_key = to_later * key_bytes;
  }

  void prefetch_later(const int8_t* value) const {
    constexpr CacheLevel kTo = Kind::kPrefetchTo;
    prefetch<kTo>(value, to_later_key - to_value);
    prefetch<kTo>(value, to_later_key);
    if (!kFine) return;
    prefetch<kTo>(value + args.d_head, to_later_key - to_value);
    prefetch<kTo>(value + args.d_head, to_later_key);
  }

  // The same for the scales of all keys and values of each head.
  void prefetch_later_scales() const {
    const size_t n = args.n_keys * args.position_stride, to_later_scale = to_later * sizeof(float);
    for (uint32_t i = 0; i < n_queries; ++i) {
      const Query& query = queries[i];
      if (i > 0 && query.key_scales == queries[i - 1].key_scales) continue;
      for (size_t at = 0; at < n; at += 16) {
        prefetch(query.key_scales + at, to_later_scale);
        prefetch(query.value_scales + at, to_later_scale);
      }
    }
  }

  // Returns the scales of keys t to t + n - 1, n <= 16, with zeros behind them. gathered: their array in Places.
  V scales(const Query& query, const float* scales, const float (Places::*gathered)[kMaxGathered], uint32_t t,
           uint32_t n) const {
    if (kAncestors && t + n <= n_gathered) return load(places_of(query, t).*gathered + t);
    if (!kAncestors && args.position_stride == 1) return n == 16 ? load(scales + t) : load_first(scales + t, n);
    float lanes[16] = {};
    for (uint32_t i = 0; i < n; ++i) lanes[i] = scales[at(query, t + i)];
    return load(lanes);
  }
};

// Returns row `row` of a head.
template <typename Kind>
inline void start_query(const Group<Kind>& group, uint32_t head, uint32_t row, Query& query) {
  const AttentionArgs<int8_t>& args = group.args;
  const size_t head_at = head * args.head_stride, column = size_t{head} * args.d_head;
  query.keys = args.keys + head_at * group.key_bytes;
  query.values = args.values + head_at * group.key_bytes;
  query.key_scales = args.key_scales + head_at;
  query.value_scales = args.value_scales + head_at;
  query.ancestor = Kind::kAncestors ? args.ancestor + row : nullptr;
  query.bias = row_bias(args, head_bias(args, head), row);
  query.out = args.out + row * args.out_stride + column;
}

// Returns the number of leading keys that all queries of the group share, if 2 or 4 are of one head; else 0.
template <typename Kind>
inline uint32_t count_common_keys(const Group<Kind>& group) {
  const AttentionArgs<int8_t>& args = group.args;
  const Query* queries = group.queries;
  const bool same_head = queries[0].values == queries[group.n_queries - 1].values;
  if ((group.n_queries != 2 && group.n_queries != 4) || !same_head) return 0;
  if constexpr (!Kind::kAncestors) return args.n_keys;
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const uint8_t* slots = queries[0].ancestor + t * args.ancestor_stride;
    for (uint32_t i = 1; i < group.n_queries; ++i) {
      if (slots[i] != slots[0]) return t;
    }
  }
  return args.n_keys;
}

// Finds the places of a query's keys from key t on. They are the same in each head.
template <typename Kind>
inline void find_places(const Group<Kind>& group, const Query& query, uint32_t t) {
  Places& places = *query.places;
  for (const uint32_t end = group.n_gathered; t < end; ++t) {
    const size_t row = group.at(query, t);
    places.rows[t] = static_cast<uint32_t>(row);
    places.keys[t] = static_cast<uint32_t>(row * group.key_bytes);
  }
}

// Gathers the scales of these keys and values.
template <typename Kind>
inline void gather_scales(const Group<Kind>& group, const Query& query, uint32_t t) {
  const float *const key_scales = query.key_scales, *const value_scales = query.value_scales;
  const uint32_t end = group.n_gathered;
  if (t >= end) return;
  Places& places = *query.places;
  store(places.key_scales + (end - 1) / 16 * 16, set(0.0f));
  store(places.value_scales + (end - 1) / 16 * 16, set(0.0f));
  for (; t < end; ++t) {
    const uint32_t row = places.rows[t];
    places.key_scales[t] = key_scales[row];
    places.value_scales[t] = value_scales[row];
  }
}

}  // namespace
}  // namespace goldcrest
