// SPDX-License-Identifier: Apache-2.0
// What AArch64's tables share beyond arm_neon_vectors-inl.h: vector division, and 16 sums in four registers.
#if !defined(__aarch64__)
#error "compile for AArch64"
#endif
#include "kernels/arm_neon_vectors-inl.h"

namespace goldcrest {
namespace {

inline V operator/(V a, V b) {
  return each(a, b, [](float32x4_t x, float32x4_t y) { return vdivq_f32(x, y); });
}

struct Acc {
  int32x4_t q[4];
};

inline Acc zero() {
  const int32x4_t none = vdupq_n_s32(0);
  return {{none, none, none, none}};
}

inline V finish(Acc acc, const int32_t*) {
  return {{vcvtq_f32_s32(acc.q[0]), vcvtq_f32_s32(acc.q[1]), vcvtq_f32_s32(acc.q[2]), vcvtq_f32_s32(acc.q[3])}};
}

}  // namespace
}  // namespace goldcrest
