// SPDX-License-Identifier: Apache-2.0
// Checks weights from outside in one pass over them, on the vectors of vector/kernels-inl.h.

namespace goldcrest { namespace {
// sums: those of a panel of 16 / kLanes outputs; each output's sum is in kLanes lanes next to each other.
template <uint32_t kLanes> inline bool sums_are(W sums, const int32_t* weight_sum) {
  int32_t lanes[16];
  memcpy(lanes, &sums, sizeof lanes);
  int32_t difference = 0;
  for (uint32_t output = 0; output < 16 / kLanes; ++output) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < kLanes; ++i) sum += lanes[output * kLanes + i];
    difference |= sum ^ weight_sum[output];
  }
  return difference == 0;
}

inline bool any_is_minus_128(W weights) {
  int8_t values[64];
  memcpy(values, &weights, sizeof values);
  bool found = false;
  for (const int8_t value : values) found |= value == -128;
  return found;
}

constexpr size_t kReadAhead = 1024;  // bytes; processors do not prefetch across the end of a page by themselves

bool weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  if (weight_sum != nullptr && layout == Layout::kRowMajor) return reference_weights_valid(w, weight_sum, n, k, layout);
  const uint32_t panel_outputs = layout == Layout::kN4K16 ? 4 : 16;
  const size_t panel_bytes = size_t{panel_outputs} * k;
  W least = load_panel(w);
  for (uint32_t output = 0; output < n; output += panel_outputs, w += panel_bytes) {
    W sums = {};
    for (size_t at = 0; at < panel_bytes; at += 64) {
      prefetch(w + at, kReadAhead);
      const W weights = load_panel(w + at);
      least = smaller_int8(least, weights);
      sums = add_fours(sums, weights);
    }
    if (weight_sum == nullptr) continue;
    const int32_t* expected = weight_sum + output;
    if (layout == Layout::kN4K16 ? !sums_are<4>(sums, expected) : !sums_are<1>(sums, expected)) return false;
  }
  return !any_is_minus_128(least);
}
}}  // namespace goldcrest
