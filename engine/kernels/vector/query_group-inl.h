// SPDX-License-Identifier: Apache-2.0
// The queries that attention computes together (vector/attention-inl.h): where their keys are, which keys they share,
// and what is prefetched for the queries after them.

namespace goldcrest {
// kFine: queries, keys and values have remainders. kIntegers: weights are integers.
enum class Numbers { kInt8, kFine, kIntegers };

namespace {
// The queries of a group need about 25 KB of the stack. Only CPUs that run an operating system use this file.
constexpr uint32_t kMaxQueries = 4, kMaxWeights = 1024, kMaxGathered = 256;

// The rows of gathered keys in their head, their offsets from a query's `keys`, and the scales of keys and values, with
// zeros after them. Hypotheses choose these keys.
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
  const uint8_t* ancestor;  // the row's
  const float* bias;        // the row's; null: none
  int8_t* q;                // [d_head]
  float q_scale;
  float* weights;  // [n_keys padded to 16]
  float factor;    // scales the sums of integer weights
  float* out;      // [d_head]
  Places* places;
};

// From this many bytes of a layer's keys on, the keys come from memory: between two calls all weights of the model pass
// through the caches. Then each group prefetches the keys and values of the next group while it sums its own values,
// which takes longer than any other phase. The last group prefetches those of the next sentence. If many rows read the
// same keys, none prefetches, because only the first few would wait.
constexpr size_t kFromMemory = 65536;

// kAncestors: hypotheses choose the keys.
template <bool kWithAncestors, Numbers kNumbers> struct AttentionKind {
  static constexpr bool kAncestors = kWithAncestors, kFine = kNumbers == Numbers::kFine;
  static constexpr bool kIntegers = kNumbers == Numbers::kIntegers;
};

// The keys and values that a group prefetches, of one head or more, one key for each that it sums.
template <typename Kind> struct LaterKeys {
  CacheLevel to;
  const int8_t* head = nullptr;       // keys of the head that is prefetched now
  const uint32_t* offsets = nullptr;  // places of the keys in it, if hypotheses choose them
  size_t head_bytes, position_bytes;  // from a head to the next, and from a position to the next
  size_t key_bytes;
  size_t to_value;      // bytes from a key to its value
  uint32_t n_keys = 0;  // each head's
  uint32_t next = 0;    // key in its head
  uint32_t n_left = 0;  // all heads' together

  // Prefetches a key and its value, if one is left.
  void prefetch_key() {
    if (n_left == 0) return;
    --n_left;
    const size_t offset = Kind::kAncestors ? offsets[next] : next * position_bytes;
    for (size_t i = offset; i < offset + key_bytes; i += 64) {
      prefetch(head, i, to);
      prefetch(head, i + to_value, to);
    }
    if (++next < n_keys) return;
    next = 0;
    head += head_bytes;
  }
};

// Queries that are computed together.
template <typename Kind> struct Group {
  static constexpr bool kAncestors = Kind::kAncestors, kFine = Kind::kFine;

  AttentionArgs<int8_t> args;
  uint32_t padded_keys;
  bool from_memory;
  size_t key_bytes;
  uint32_t n_queries = 0;
  Query queries[kMaxQueries];
  uint32_t n_common = 0;     // leading keys that all share: hypotheses share their past up to where they part
  uint32_t n_gathered;       // leading keys that have places
  uint32_t first_later = 0;  // head that no group has prefetched
  LaterKeys<Kind> later;
  uint32_t offsets[kAncestors ? kMaxQueries * kMaxGathered : 1];  // places of `later`
  // The first query has all its places here; the others only those after whole blocks of common keys.
  Places places[kAncestors ? kMaxQueries : 1];

  // cppcheck-suppress uninitMemberVar; code reads only the part of the arrays that it has filled
  Group(const AttentionArgs<int8_t>& of, CacheLevel prefetch_to)
      : args(of),
        padded_keys((of.n_keys + 15) / 16 * 16),
        from_memory(of.rows <= kMaxQueries && of.n_heads * of.head_stride * of.d_head >= kFromMemory),
        key_bytes(kFine ? size_t{2} * of.d_head : of.d_head),
        n_gathered(!kAncestors                ? 0
                   : of.n_keys < kMaxGathered ? of.n_keys
                                              : kMaxGathered) {
    later.to = prefetch_to;
    later.offsets = offsets;
    later.head_bytes = of.head_stride * key_bytes;
    later.position_bytes = of.position_stride * key_bytes;
    later.key_bytes = key_bytes;
    later.to_value = reinterpret_cast<uintptr_t>(of.values) - reinterpret_cast<uintptr_t>(of.keys);
  }

  uint32_t n_common_in_blocks() const { return n_common / 16 * 16; }

  const Places& places_of(const Query& query, uint32_t t) const {
    return t < n_common_in_blocks() ? places[0] : *query.places;
  }

  size_t at(const Query& query, uint32_t t) const {
    if constexpr (kAncestors) return t * args.position_stride + query.ancestor[t * args.ancestor_stride];
    return t * args.position_stride;
  }

  // Returns the first head from `head` on that begins after the first `rows` rows of all heads.
  uint32_t head_behind(uint32_t rows, uint32_t head) const {
    while (head < args.n_heads && head * args.rows < rows) ++head;
    return head;
  }

  // Begins to prefetch what the next group reads. end: the rows of all heads up to the end of this group. n_together:
  // the rows of a whole group.
  void start_later(uint32_t end, uint32_t n_together) {
    const bool is_first = end == n_queries, is_last = end == args.rows * args.n_heads;
    if (is_first) {
      first_later = head_behind(n_together, 0);
      list_keys(args.ancestor);
      const size_t n_ancestors = kAncestors ? args.n_keys * args.ancestor_stride : 0;
      for (size_t i = 0; i < n_ancestors; i += 64) prefetch(args.ancestor, args.to_next + i);
    }
    const uint32_t head = first_later;
    first_later = head_behind(end + n_together, head);
    size_t row = head * args.head_stride;
    uint32_t n_heads = first_later - head;
    if (is_last) {
      row = args.to_next != 0 ? args.to_next : args.n_heads * args.head_stride;  // else perhaps of the next layer
      n_heads = head_behind(n_together, 0);
      if (kAncestors && args.to_next != 0) list_keys(args.ancestor + args.to_next);
    }
    later.head = args.keys + row * key_bytes;
    later.next = 0;
    later.n_left = n_heads * later.n_keys;
    prefetch_scales(row, n_heads);
  }

  // Lists the keys of a head that the rows of a sentence read, each once. Narrow heads have none: several keys share a
  // cache line, and the CPU finds the lines itself.
  void list_keys(const uint8_t* ancestor) {
    const bool is_narrow = args.d_head < 16 * kValueVectorsOf1;
    uint32_t n = kAncestors || is_narrow ? 0 : args.n_keys;
    if (kAncestors && !is_narrow) {
      const uint32_t last = args.rows - 1;
      const uint8_t *const second = ancestor + (last < 1 ? last : 1), *const third = ancestor + (last < 2 ? last : 2);
      for (size_t t = 0; t < n_gathered; ++t) {
        const size_t i = t * args.ancestor_stride, row = t * args.position_stride;
        const uint8_t slots[kMaxQueries] = {ancestor[i], second[i], third[i], ancestor[i + last]};
        const bool is_new[] = {true, slots[1] != slots[0], slots[2] != slots[0] && slots[2] != slots[1],
            slots[3] != slots[0] && slots[3] != slots[1] && slots[3] != slots[2]};
        for (uint32_t j = 0; j < kMaxQueries; ++j) {
          offsets[n] = static_cast<uint32_t>((row + slots[j]) * key_bytes);
          n += is_new[j];
        }
      }
    }
    later.n_keys = n;
  }

  // Prefetches the scales of all keys and values of some heads, from a row of the cache on.
  void prefetch_scales(size_t row, uint32_t n_heads) const {
    const size_t n = args.n_keys * args.position_stride;
    for (uint32_t head = 0; head < n_heads; ++head, row += args.head_stride) {
      for (size_t i = row; i < row + n; i += 16) {
        prefetch(args.key_scales, i * sizeof(float));
        prefetch(args.value_scales, i * sizeof(float));
      }
    }
  }

  // Returns the scales of keys t to t + n - 1, n <= 16, with zeros after them. gathered: their array in Places.
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
template <typename Kind> inline void start_query(const Group<Kind>& group, uint32_t head, uint32_t row, Query& query) {
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
template <typename Kind> inline uint32_t count_common_keys(const Group<Kind>& group) {
  const AttentionArgs<int8_t>& args = group.args;
  const Query* queries = group.queries;
  const bool same_head = queries[0].values == queries[group.n_queries - 1].values;
  if ((group.n_queries != 2 && group.n_queries != 4) || !same_head) return 0;
  if constexpr (!Kind::kAncestors) return args.n_keys;
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const uint8_t* slots = queries[0].ancestor + t * args.ancestor_stride;
    for (uint32_t i = 1; i < group.n_queries; ++i)
      if (slots[i] != slots[0]) return t;
  }
  return args.n_keys;
}

// Finds the places of a query's keys from key t on. They are the same in each head.
template <typename Kind> inline void find_places(const Group<Kind>& group, const Query& query, uint32_t t) {
  Places& places = *query.places;
  for (const uint32_t end = group.n_gathered; t < end; ++t) {
    const size_t row = group.at(query, t);
    places.rows[t] = static_cast<uint32_t>(row);
    places.keys[t] = static_cast<uint32_t>(row * group.key_bytes);
  }
}

// Gathers the scales of these keys and values.
template <typename Kind> inline void gather_scales(const Group<Kind>& group, const Query& query, uint32_t t) {
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
