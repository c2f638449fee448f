// SPDX-License-Identifier: Apache-2.0
// Sums values with integer weights for queries that share them (vector/shared_attention-inl.h) by the table's linear
// layer, which multiplies int8 faster than the vectors multiply int16.

namespace goldcrest { namespace {
// Keys in a panel of values, and in as many panels as have sums of 7-bit halves that a float holds exactly.
constexpr uint32_t kKeysOfIntegers = 128, kExactHalfKeys = 1024, kValuePanelBytes = 8192;

// Copies n rows of values into panels of n_padded keys, [columns / 16][keys / 4][16][4], then zeros.
inline void make_value_panels(const int8_t* values, uint32_t n, uint32_t n_padded, size_t d_head, int8_t* panels) {
  int8_t last[4 * kMaxHead] = {};
  memcpy(last, values + n / 4 * 4 * d_head, n % 4 * d_head);
  for (uint32_t t = 0; t < n_padded; t += 4, panels += 64) {
    const bool is_whole = t + 4 <= n;
    if (t >= n) memset(last, 0, sizeof last);
    const int8_t* const from = is_whole ? values + t * d_head : last;
    for (size_t j = 0; j < d_head; j += 16) transpose_bytes(from + j, d_head, panels + j * n_padded);
  }
}

// Adds a query's sums of high and low halves to its totals, integers in `out`. is_last: these become outputs.
inline void add_halves_to_totals(
    const float* high, size_t d_head, bool is_first, bool is_last, float factor, float* out) {
  for (size_t j = 0; j < d_head; j += 16) {
    Sums total = {};
    if (!is_first) total = load_sums(out + j);
    total = add_whole(add_whole(total, load(high + j)), load(high + d_head + j));
    if (is_last) store(out + j, to_floats(total) * set(factor));
    else store_sums(out + j, total);
  }
}

// Sums values with integer weights as a linear layer does: keys are its inputs, columns its outputs, and the halves of
// a query's weights, of seven bits, are two rows. group.weights: of scale_exponentials
template <void (*kLinear)(const LinearArgs<int8_t>&)>
__attribute__((noinline)) void sum_integers_together(const SharedGroup& group, const IntegerScales* scales) {
  static constexpr float kNoBias[kMaxHead] = {};
  static constexpr int32_t kNoSums[kMaxHead] = {};  // with eight rows no table needs them
  const AttentionArgs<int8_t>& args = group.args;
  const size_t d_head = args.d_head;
  alignas(64) int8_t panels[kValuePanelBytes];
  alignas(64) int8_t halves[2 * kMostShared * kKeysOfIntegers];
  alignas(64) float sums[2 * kMostShared * kMaxHead];
  float row_scales[2 * kMostShared], ones[kMaxHead];
  for (uint32_t i = 0; i < 2 * kMostShared; ++i) row_scales[i] = i % 2 == 0 ? 128.0f : 1.0f;
  for (float& one : ones) one = 1.0f;
  LinearArgs<int8_t> layer = {};
  layer.x = halves;
  layer.x_scale = row_scales;
  layer.w = panels;
  layer.w_scale = ones;
  layer.bias = kNoBias;
  layer.weight_sum = kNoSums;
  layer.y = sums;
  layer.y_stride = d_head;
  layer.rows = 2 * args.rows;
  layer.n = args.d_head;
  layer.layout = Layout::kN16K4;
  layer.activation = Activation::kNone;
  const uint32_t fit = kValuePanelBytes / args.d_head / 16 * 16;
  const uint32_t most = fit < kKeysOfIntegers ? fit : kKeysOfIntegers;
  uint32_t n_summed = 0;
  bool is_first = true;
  for (uint32_t first = 0; first < args.n_keys; first += most) {
    const uint32_t rest = args.n_keys - first, n = rest < most ? rest : most, n_padded = (n + 15) / 16 * 16;
    make_value_panels(args.values + first * d_head, n, n_padded, d_head, panels);
    for (size_t i = 0; i < args.rows; ++i) {
      const V to_integer = set(scales[i].to_integer);
      int8_t* const high = halves + 2 * i * n_padded;
      const float* const weights = group.weights + i * group.padded_keys + first;
      for (uint32_t t = 0; t < n_padded; t += 16)
        store_halves(high + t, high + n_padded + t, load(weights + t) * to_integer);
    }
    layer.k = n_padded;
    layer.residual = n_summed > 0 ? sums : nullptr;
    kLinear(layer);
    n_summed += n;
    const bool is_last = n == rest;
    if (!is_last && n_summed + most <= kExactHalfKeys) continue;
    for (uint32_t i = 0; i < args.rows; ++i)
      add_halves_to_totals(
          sums + 2 * i * d_head, d_head, is_first, is_last, scales[i].from_sum, args.out + i * args.out_stride);
    n_summed = 0;
    is_first = false;
  }
}
}}  // namespace goldcrest
