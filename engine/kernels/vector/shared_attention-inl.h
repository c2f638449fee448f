// SPDX-License-Identifier: Apache-2.0
// Attention of several queries of one head to the same int8 keys and values, on the vectors of vector/kernels-inl.h. A
// group of queries passes over the keys together, as the rows of a linear layer share its weights: keys are copied into
// panels, which the table's linear layer multiplies, and values are converted to floats once for the group.

namespace goldcrest { namespace {
// A group's weights take up to 6 KiB of the stack for each of its kMostShared queries, panels or values 16 KiB.
constexpr uint32_t kMaxHead = 128, kFewestShared = 4, kManyShared = 8, kMostSharedWeights = 1536 * kMostShared;
constexpr uint32_t kKeysOfPanels = 128, kKeysOfValues = 32;

// With fewer keys, the copies cost more than they save. Few queries share them only where fewer than two would pass
// over the keys together otherwise (attention in vector/attention-inl.h).
constexpr uint32_t kFewestSharedKeys = 96, kManySharedKeys = 513;

struct SharedGroup {
  AttentionArgs<int8_t> args;  // for one head and the group's rows
  uint32_t padded_keys;
  int8_t* q;        // [rows, d_head]
  float* q_scales;  // [rows]
  float* weights;   // [rows, padded_keys]
};

inline bool shares_keys(const AttentionArgs<int8_t>& args) {
  const uint32_t fewest_keys = args.rows >= kManyShared ? kFewestSharedKeys : kManySharedKeys;
  const uint32_t most_keys = kMostSharedWeights / kFewestShared / 16 * 16;
  return args.rows >= kFewestShared && args.n_keys >= fewest_keys && args.n_keys <= most_keys &&
         args.ancestor == nullptr && args.position_stride == 1 && args.d_head <= kMaxHead;
}

// Copies n keys, n <= kKeysOfPanels, into panels of 16. The last one is filled up with copies of a key.
inline void make_panels(const int8_t* keys, uint32_t n, size_t d_head, int8_t* panels) {
  int8_t last[16 * kMaxHead];
  for (uint32_t t = 0; t < n; t += 16, panels += 16 * d_head) {
    const int8_t* from = keys + t * d_head;
    if (n - t < 16) {
      for (uint32_t i = 0; i < 16; ++i) memcpy(last + i * d_head, from + (t + i < n ? i * d_head : 0), d_head);
      from = last;
    }
    for (size_t i = 0; i < d_head; i += 16) transpose_words(from + i, d_head, panels + 16 * i);
  }
}

// Writes the scores of all queries, with -infinity after them. Returns the largest score of each lane.
template <void (*kLinear)(const LinearArgs<int8_t>&)>
__attribute__((noinline)) void score_shared_keys(const SharedGroup& group, V (&largest)[kMostShared]) {
  static constexpr float kNoBias[kKeysOfPanels] = {};
  static constexpr int32_t kNoSums[kKeysOfPanels] = {};  // with four rows no table needs them
  const AttentionArgs<int8_t>& args = group.args;
  alignas(64) int8_t panels[kKeysOfPanels * kMaxHead];
  float scales[kKeysOfPanels];
  const V none = set(-__builtin_huge_valf()), scale = set(args.scale);
  for (uint32_t i = 0; i < args.rows; ++i) largest[i] = none;
  LinearArgs<int8_t> layer = {};
  layer.x = group.q;
  layer.x_scale = group.q_scales;
  layer.w = panels;
  layer.bias = kNoBias;
  layer.weight_sum = kNoSums;
  layer.y_stride = group.padded_keys;
  layer.rows = args.rows;
  layer.k = args.d_head;
  layer.layout = Layout::kN16K4;
  layer.activation = Activation::kNone;
  InputSpace<kMostShared * kMaxHead * 5 / 2> space;
  if constexpr (kSharesInputs) layer.shared = &space.shared;
  for (uint32_t first = 0; first < args.n_keys; first += kKeysOfPanels) {
    const uint32_t rest = args.n_keys - first, n = rest < kKeysOfPanels ? rest : kKeysOfPanels;
    make_panels(args.keys + size_t{first} * args.d_head, n, args.d_head, panels);
    layer.n = (n + 15) / 16 * 16;
    layer.w_scale = args.key_scales + first;
    if (n % 16 != 0) {
      for (uint32_t t = 0; t < layer.n; ++t) scales[t] = args.key_scales[first + (t < n ? t : 0)];
      layer.w_scale = scales;
    }
    layer.y = group.weights + first;
    kLinear(layer);
    for (uint32_t i = 0; i < args.rows; ++i) {
      float* const scores = layer.y + size_t{i} * group.padded_keys;
      const float* const bias = row_bias(args, args.bias, i);
      const auto score = [&](size_t t) {
        const V products = load(scores + t) * scale;
        return bias != nullptr ? products + load(bias + first + t) : products;
      };
      const size_t whole = n / 16 * 16;
      V most = largest[i];
      for (size_t t = 0; t < whole; t += 16) {
        const V all = score(t);
        store(scores + t, all);
        most = larger(all, most);
      }
      if (n % 16 != 0) {
        const V all = select(first_lanes(n % 16), score(whole), none);
        store(scores + whole, all);
        most = larger(all, most);
      }
      largest[i] = most;
    }
  }
}

// out[j] = out[j] + sum over t of weights[t] * values[t, j], t ascending, for n keys, kVectors * 16 columns and
// kQueries. weights, out: of the first query and key or column; the row strides of group.
template <int kQueries, int kVectors>
inline void add_shared_columns(
    const SharedGroup& group, const float* values, uint32_t n, const float* weights, float* out) {
  const size_t d_head = group.args.d_head, out_stride = group.args.out_stride, padded_keys = group.padded_keys;
  V sum[kQueries][kVectors];
  for (int i = 0; i < kQueries; ++i)
    for (int j = 0; j < kVectors; ++j) sum[i][j] = load(out + static_cast<size_t>(i) * out_stride + 16 * j);
  for (uint32_t t = 0; t < n; ++t, values += d_head) {
    for (int j = 0; j < kVectors; ++j) {
      const V value = load(values + 16 * j);
      for (int i = 0; i < kQueries; ++i)
        sum[i][j] = sum[i][j] + set(weights[static_cast<size_t>(i) * padded_keys + t]) * value;
    }
  }
  for (int i = 0; i < kQueries; ++i)
    for (int j = 0; j < kVectors; ++j) store(out + static_cast<size_t>(i) * out_stride + 16 * j, sum[i][j]);
}

// The same for all columns from `column` on.
template <int kQueries, int kVectors>
inline void add_shared_values(
    const SharedGroup& group, const float* values, uint32_t n, const float* weights, float* out, uint32_t column) {
  for (; column + 16 * kVectors <= group.args.d_head; column += 16 * kVectors)
    add_shared_columns<kQueries, kVectors>(group, values + column, n, weights, out + column);
  if constexpr (kVectors > 1) add_shared_values<kQueries, kVectors - 1>(group, values, n, weights, out, column);
}

// weights: scores' exponentials; inverse: of their sums.
__attribute__((noinline)) void sum_shared_values(const SharedGroup& group, const float (&inverse)[kMostShared]) {
  const AttentionArgs<int8_t>& args = group.args;
  const size_t d_head = args.d_head, padded_keys = group.padded_keys;
  alignas(64) float values[kKeysOfValues * kMaxHead];
  for (uint32_t i = 0; i < args.rows; ++i)
    for (size_t j = 0; j < d_head; j += 16) store(args.out + i * args.out_stride + j, set(0.0f));
  for (uint32_t first = 0; first < args.n_keys; first += kKeysOfValues) {
    const uint32_t rest = args.n_keys - first, n = rest < kKeysOfValues ? rest : kKeysOfValues;
    for (size_t j = 0; j < n * d_head; j += 16) store(values + j, load_int8(args.values + first * d_head + j));
    for (uint32_t t = 0; t < n; t += 16) {
      const V scales =
          n - t < 16 ? load_first(args.value_scales + first + t, n - t) : load(args.value_scales + first + t);
      for (uint32_t i = 0; i < args.rows; ++i) {
        float* const weights = group.weights + i * padded_keys + first + t;
        store(weights, (load(weights) * set(inverse[i])) * scales);
      }
    }
    float* out = args.out;
    const float* weights = group.weights + first;
    uint32_t i = 0;
    for (; i + 4 <= args.rows; i += 4, out += 4 * args.out_stride, weights += 4 * padded_keys)
      add_shared_values<4, kValueVectorsOf4>(group, values, n, weights, out, 0);
    for (; i + 2 <= args.rows; i += 2, out += 2 * args.out_stride, weights += 2 * padded_keys)
      add_shared_values<2, kValueVectorsOf2>(group, values, n, weights, out, 0);
    if (i < args.rows) add_shared_values<1, kValueVectorsOf1>(group, values, n, weights, out, 0);
  }
}

// Ends attention with integer weights, from the scaled exponentials in group.weights. vector/shared_pairs-inl.h or
// vector/shared_layer-inl.h defines it.
template <void (*kLinear)(const LinearArgs<int8_t>&)>
void sum_integers_together(const SharedGroup& group, const IntegerScales* scales);

template <void (*kLinear)(const LinearArgs<int8_t>&)> inline void attend_together(const SharedGroup& group) {
  const uint32_t rows = group.args.rows;
  V lanes[kMostShared];
  float inverse[kMostShared];
  score_shared_keys<kLinear>(group, lanes);
  if (group.args.has_integers()) {
    const AttentionArgs<int8_t>& args = group.args;
    IntegerScales scales[kMostShared];
    for (uint32_t i = 0; i < rows; ++i)
      scales[i] = scale_exponentials(
          group.weights + size_t{i} * group.padded_keys, group.padded_keys, largest_lane(lanes[i]), [&](uint32_t t) {
            const float* const first = args.value_scales + t;
            return args.n_keys - t < 16 ? load_first(first, args.n_keys - t) : load(first);
          });
    return sum_integers_together<kLinear>(group, scales);
  }
  for (uint32_t i = 0; i < rows; ++i) {
    float* const weights = group.weights + size_t{i} * group.padded_keys;
    V sum = set(0.0f);
    for_exponentials(weights, group.padded_keys, set(largest_lane(lanes[i])), [&](size_t t, V e) {
      store(weights + t, e);
      sum = sum + e;
    });
    lanes[i] = sum;
  }
  for (uint32_t i = 0; i < rows; ++i) inverse[i] = 1.0f / sum_lanes(lanes[i]);
  sum_shared_values(group, inverse);
}

// Splits each head's queries into groups of nearly equal size.
template <void (*kLinear)(const LinearArgs<int8_t>&)>
__attribute__((noinline)) void attention_of_groups(const AttentionArgs<int8_t>& args) {
  int8_t q[kMostShared * kMaxHead];
  float q_scales[kMostShared];
  alignas(64) float weights[kMostSharedWeights];
  SharedGroup group = {args, (args.n_keys + 15) / 16 * 16, q, q_scales, weights};
  const uint32_t fit = kMostSharedWeights / group.padded_keys, most = fit < kMostShared ? fit : kMostShared;
  const uint32_t n_groups = (args.rows + most - 1) / most;
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t head_at = head * args.head_stride, column = size_t{head} * args.d_head;
    group.args.keys = args.keys + head_at * args.d_head;
    group.args.values = args.values + head_at * args.d_head;
    group.args.key_scales = args.key_scales + head_at;
    group.args.value_scales = args.value_scales + head_at;
    for (uint32_t i = 0, row = 0; i < n_groups; ++i, row += group.args.rows) {
      group.args.rows = (args.rows - row) / (n_groups - i);
      group.args.bias = row_bias(args, head_bias(args, head), row);
      group.args.out = args.out + row * args.out_stride + column;
      quantize_rows({args.q + row * args.q_stride + column, q, q_scales, args.q_stride, args.d_head, 1, group.args.rows,
          args.d_head});
      attend_together<kLinear>(group);
    }
  }
}
}}  // namespace goldcrest
