// SPDX-License-Identifier: Apache-2.0
// Products of int8 by SDOT, four inputs of four outputs a register: arm_dotprod's, and arm_i8mm's for single rows.
#if !defined(__ARM_FEATURE_DOTPROD)
#error "compile with -march=armv8.2-a+dotprod"
#endif
#include "kernels/arm_aarch64_vectors-inl.h"

namespace goldcrest {
namespace {

struct X {
  int8x16_t v;
};

inline X broadcast(const int8_t* x) { return {broadcast_four(x)}; }

inline Acc accumulate(Acc acc, X x, W w) {
  for (int i = 0; i < 4; ++i) acc.q[i] = vdotq_s32(acc.q[i], w.q[i], x.v);
  return acc;
}

inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32x4_t sum = vdupq_n_s32(0);
  for (uint32_t i = 0; i < n; i += 16) sum = vdotq_s32(sum, vld1q_s8(a + i), vld1q_s8(b + i));
  return vaddvq_s32(sum);
}

// A panel takes four of the 32 registers.
constexpr int kPanelsFor1 = 4, kPanelsFor2 = 2, kPanelsFor3 = 1, kPanelsFor4 = 1, kPanelsFor5 = 1, kPanelsFor6 = 1;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 4;

}  // namespace
}  // namespace goldcrest
