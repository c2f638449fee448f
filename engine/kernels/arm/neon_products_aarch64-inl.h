// SPDX-License-Identifier: Apache-2.0
// Products of int8 without dot product instructions on AArch64, for arm_neon and arm_neon_a53. Two products are added
// in 16 bits, which cannot overflow because all factors are in [-127, 127]; then pairs of sums are added in 32 bits.
#include "kernels/arm/aarch64_vectors-inl.h"

namespace goldcrest { namespace {
constexpr int kBlockInputs = 8;

// Two sums for each of 16 outputs.
struct Acc {
  int32x4_t q[8];
};

inline Acc add(Acc a, Acc b) {
  for (int i = 0; i < 8; ++i) a.q[i] = vaddq_s32(a.q[i], b.q[i]);
  return a;
}

constexpr int kXBlocks = 2;

// A row's sums take eight of the 32 registers. For 1, 2, ... rows: the panels of a tile, and the accumulators that
// share a sum.
constexpr int kTilePanels[] = {1, 1};
constexpr int kTileSplits[] = {1, 1};
constexpr bool kFinishesTogether = false;

inline V finish(Acc acc, const int32_t*) {
  V sums;
  for (int i = 0; i < 4; ++i) sums.q[i] = vcvtq_f32_s32(vpaddq_s32(acc.q[2 * i], acc.q[2 * i + 1]));
  return sums;
}

// The activations of two blocks.
struct X {
  int8x16_t v;
};

inline X broadcast(const int8_t* x) { return {vld1q_s8(x)}; }

// Returns group kFour of four inputs, four times.
template <int kFour> inline int8x16_t four_of(X x) {
  int32x4_t all = vdupq_laneq_s32(vreinterpretq_s32_s8(x.v), kFour);
#if defined(__clang__)
  // Hides that both halves are the same. Otherwise clang moves the weights' upper halves down, to multiply them by the
  // lower half.
  asm("" : "+w"(all));
#endif
  return vreinterpretq_s8_s32(all);
}

// Pins a computation to this place in the order of instructions.
template <typename Sums> inline Sums here(Sums sums) {
  asm volatile("" : "+w"(sums));
  return sums;
}

// In-order cores wait four cycles for a sum of two products, so it is added to its accumulator among the products of
// the next outputs. Without this order GCC keeps too many sums of two rows at once and spills accumulators to memory.
template <int kRows> inline Acc accumulate(Acc acc, X x, int block, const int8_t* w) {
  const int8x16_t first_x = block == 0 ? four_of<0>(x) : four_of<2>(x);
  const int8x16_t last_x = block == 0 ? four_of<1>(x) : four_of<3>(x);
  int8x16_t first[4], last[4];
  for (int i = 0; i < 4; ++i) {
    first[i] = vld1q_s8(w + 16 * i);
    last[i] = vld1q_s8(w + 64 + 16 * i);
  }
  int16x8_t low[4], high[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    low[i] = here(vmull_s8(vget_low_s8(first[i]), vget_low_s8(first_x)));
    high[i] = here(vmull_high_s8(first[i], first_x));
    if (i > 0) acc.q[2 * i - 2] = here(vpadalq_s16(acc.q[2 * i - 2], low[i - 1]));
    low[i] = here(vmlal_s8(low[i], vget_low_s8(last[i]), vget_low_s8(last_x)));
    high[i] = here(vmlal_high_s8(high[i], last[i], last_x));
    if (i > 0) acc.q[2 * i - 1] = here(vpadalq_s16(acc.q[2 * i - 1], high[i - 1]));
  }
  acc.q[6] = here(vpadalq_s16(acc.q[6], low[3]));
  acc.q[7] = here(vpadalq_s16(acc.q[7], high[3]));
  return acc;
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  const int32x4_t none = vdupq_n_s32(0);
  int32x4_t sum[4] = {none, none, none, none};
  for (uint32_t i = 0; i < n; i += 16) {
    const int8x16_t x = vld1q_s8(q + i);
    for (int k = 0; k < 4; ++k) {  // two products fit 16 bits
      const int8x16_t key = vld1q_s8(keys[k] + i);
      sum[k] = vpadalq_s16(sum[k], vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(key)), x, key));
    }
  }
  return add_lanes(sum);
}

// Holds the sums of 16 outputs of packed weights.
struct PackedAcc {
  int32x4_t q[4];
};

inline Acc packed_end(const PackedAcc& acc) {
  Acc sums;
  for (int i = 0; i < 8; ++i) {
    const int32x4_t none = vdupq_n_s32(0), four = acc.q[i / 2];
    sums.q[i] = i % 2 == 0 ? vzip1q_s32(four, none) : vzip2q_s32(four, none);
  }
  return sums;
}
}}  // namespace goldcrest

#include "kernels/arm/neon_packed-inl.h"
