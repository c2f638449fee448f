// SPDX-License-Identifier: Apache-2.0
// ARMv7 with NEON (Raspberry Pi 2 and 32-bit systems on later ones). The unit flushes denormals to zero, which the
// numbers never meet, and has no division: lane by lane in VFP, which rounds correctly.
#if !defined(__ARM_NEON) || defined(__aarch64__)
#error "compile for 32-bit Arm with -march=armv7-a+simd"
#endif
#include "kernels/arm_neon_vectors-inl.h"

namespace goldcrest {
namespace {

inline V operator/(V a, V b) {
  float dividends[16], divisors[16];
  store(dividends, a);
  store(divisors, b);
  for (int i = 0; i < 16; ++i) dividends[i] /= divisors[i];
  return load(dividends);
}

// Two sums for each of 16 outputs, of the first and of the last two inputs of every four.
struct Acc {
  int32x4_t q[8];
};

inline Acc zero() {
  const int32x4_t none = vdupq_n_s32(0);
  return {{none, none, none, none, none, none, none, none}};
}

inline V finish(Acc acc, const int32_t*) {
  V sums;
  for (int i = 0; i < 4; ++i) {
    const int32x2_t low = vpadd_s32(vget_low_s32(acc.q[2 * i]), vget_high_s32(acc.q[2 * i]));
    const int32x2_t high = vpadd_s32(vget_low_s32(acc.q[2 * i + 1]), vget_high_s32(acc.q[2 * i + 1]));
    sums.q[i] = vcvtq_f32_s32(vcombine_s32(low, high));
  }
  return sums;
}

struct X {
  int8x8_t v;
};

inline X broadcast(const int8_t* x) { return {vget_low_s8(broadcast_four(x))}; }

inline Acc accumulate(Acc acc, X x, W w) {
  for (int i = 0; i < 4; ++i) {
    acc.q[2 * i] = vpadalq_s16(acc.q[2 * i], vmull_s8(vget_low_s8(w.q[i]), x.v));
    acc.q[2 * i + 1] = vpadalq_s16(acc.q[2 * i + 1], vmull_s8(vget_high_s8(w.q[i]), x.v));
  }
  return acc;
}

inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32x4_t sum = vdupq_n_s32(0);
  for (uint32_t i = 0; i < n; i += 8) sum = vpadalq_s16(sum, vmull_s8(vld1_s8(a + i), vld1_s8(b + i)));
  const int32x2_t two = vpadd_s32(vget_low_s32(sum), vget_high_s32(sum));
  return vget_lane_s32(two, 0) + vget_lane_s32(two, 1);
}

// A row's sums take eight of the 16 registers.
constexpr int kPanelsFor1 = 1, kPanelsFor2 = 1, kPanelsFor3 = 1, kPanelsFor4 = 1, kPanelsFor5 = 1, kPanelsFor6 = 1;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 1;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector_kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_arm_neon32;
const Kernels kernels_arm_neon32 = {
    "arm_neon32", kCpuNeon,     quantize_rows, linear, reference_embed, layer_norm,
    attention,    output_block, next_above,    crc32c, weights_valid,
};

}  // namespace goldcrest
