// SPDX-License-Identifier: Apache-2.0
// Products of int8 by SDOT, four inputs of four outputs a register, for arm_dotprod and for arm_i8mm's single rows.
#if !defined(__ARM_FEATURE_DOTPROD)
#error "compile with -march=armv8.2-a+dotprod"
#endif
#include "kernels/arm/aarch64_vectors-inl.h"

namespace goldcrest { namespace {
constexpr int kBlockInputs = 4, kXBlocks = 4;

struct Acc {
  int32x4_t q[4];
};

inline Acc add(Acc a, Acc b) {
  for (int i = 0; i < 4; ++i) a.q[i] = vaddq_s32(a.q[i], b.q[i]);
  return a;
}

inline V finish(Acc acc, const int32_t*) {
  return {{vcvtq_f32_s32(acc.q[0]), vcvtq_f32_s32(acc.q[1]), vcvtq_f32_s32(acc.q[2]), vcvtq_f32_s32(acc.q[3])}};
}

// The activations of four blocks. SDOT takes those of one block for all lanes.
struct X {
  int8x16_t v;
};

inline X broadcast(const int8_t* x) { return {vld1q_s8(x)}; }

template <int kRows> inline Acc accumulate(Acc acc, X x, int block, const int8_t* w) {
  // A single row mostly loads. This keeps the loads in pairs, and none so early that a sum is spilled to memory.
  if constexpr (kRows == 1) asm("" : "+r"(w), "+w"(acc.q[3]));
  W weights = load_panel(w);
  if constexpr (kRows == 1) asm("" : "+w"(weights.q[0]), "+w"(weights.q[1]), "+w"(weights.q[2]), "+w"(weights.q[3]));
  for (int i = 0; i < 4; ++i) {
    switch (block) {
      case 0: acc.q[i] = vdotq_laneq_s32(acc.q[i], weights.q[i], x.v, 0); break;
      case 1: acc.q[i] = vdotq_laneq_s32(acc.q[i], weights.q[i], x.v, 1); break;
      case 2: acc.q[i] = vdotq_laneq_s32(acc.q[i], weights.q[i], x.v, 2); break;
      default: acc.q[i] = vdotq_laneq_s32(acc.q[i], weights.q[i], x.v, 3);
    }
  }
  return acc;
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  const int32x4_t none = vdupq_n_s32(0);
  int32x4_t sum[4] = {none, none, none, none};
  for (uint32_t i = 0; i < n; i += 16) {
    const int8x16_t x = vld1q_s8(q + i);
    for (int k = 0; k < 4; ++k) sum[k] = vdotq_s32(sum[k], x, vld1q_s8(keys[k] + i));
  }
  return add_lanes(sum);
}

// For vector/packed-inl.h.
constexpr int kPackedTileRows = 4;
using GroupStart = int32_t;
using PackedSums = Acc;

inline PackedSums start_group(int32_t start) {
  const int32x4_t all = vdupq_n_s32(start);
  return {{all, all, all, all}};
}

inline PackedSums add_nibbles(PackedSums sums, W nibbles, const int8_t* x) {
  const int8x16_t four = broadcast_four(x);
  for (int i = 0; i < 4; ++i) sums.q[i] = vdotq_s32(sums.q[i], nibbles.q[i], four);
  return sums;
}

inline Acc add_group(Acc acc, PackedSums sums, const int8_t* multipliers) {
  const int8x16_t all = vld1q_s8(multipliers);
  const int16x8_t halves[2] = {vmovl_s8(vget_low_s8(all)), vmovl_s8(vget_high_s8(all))};
  for (int i = 0; i < 4; ++i) {
    const int16x4_t four = i % 2 == 0 ? vget_low_s16(halves[i / 2]) : vget_high_s16(halves[i / 2]);
    acc.q[i] = vmlaq_s32(acc.q[i], sums.q[i], vmovl_s16(four));
  }
  return acc;
}

inline int32_t group_start(const int8_t* x, uint32_t n) {
  return -8 * (vaddlvq_s8(vld1q_s8(x)) + (n == 32 ? vaddlvq_s8(vld1q_s8(x + 16)) : 0));
}

inline Acc packed_start(const int32_t*) { return start_group(0); }
}}  // namespace goldcrest
