// SPDX-License-Identifier: Apache-2.0
// AArch64 without dot product instructions (Raspberry Pi 3, 4, Zero 2 W): the products of two inputs are added in 16
// bits, which cannot overflow because both factors lie in [-127, 127], then pairwise into 32.
#include "kernels/arm_aarch64_vectors-inl.h"

namespace goldcrest {
namespace {

// Sixteen products of int8, added by fours into four int32.
inline int32x4_t add_products(int32x4_t acc, int8x16_t a, int8x16_t b) {
  const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
  const int16x8_t high = vmull_high_s8(a, b);
  return vaddq_s32(acc, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
}

struct X {
  int8x16_t v;
};

inline X broadcast(const int8_t* x) { return {broadcast_four(x)}; }

inline Acc accumulate(Acc acc, X x, W w) {
  for (int i = 0; i < 4; ++i) acc.q[i] = add_products(acc.q[i], w.q[i], x.v);
  return acc;
}

inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32x4_t sum = vdupq_n_s32(0);
  for (uint32_t i = 0; i < n; i += 16) sum = add_products(sum, vld1q_s8(a + i), vld1q_s8(b + i));
  return vaddvq_s32(sum);
}

constexpr int kPanelsFor1 = 1, kPanelsFor2 = 1, kPanelsFor3 = 1, kPanelsFor4 = 1, kPanelsFor5 = 1, kPanelsFor6 = 1;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 4;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector_kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_arm_neon;
const Kernels kernels_arm_neon = {
    "arm_neon", kCpuNeon,     quantize_rows, linear, reference_embed, layer_norm,
    attention,  output_block, next_above,    crc32c, weights_valid,
};

}  // namespace goldcrest
