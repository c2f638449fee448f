// SPDX-License-Identifier: Apache-2.0
// ARMv7 with NEON (Raspberry Pi 2 and 32-bit systems on later ones). The unit flushes denormals to zero, but no value
// here is ever denormal. It has no division, so VFP divides lane by lane, which rounds correctly.
#include "base/exact_floats.h"

#if !defined(__ARM_NEON) || defined(__aarch64__)
#error "compile for 32-bit Arm with -march=armv7-a+simd"
#endif
#include "kernels/arm/neon_vectors-inl.h"
#include "kernels/arm/widen_by_conversion-inl.h"

namespace goldcrest { namespace {
inline V operator/(V a, V b) {
  float dividends[16], divisors[16];
  store(dividends, a);
  store(divisors, b);
  for (int i = 0; i < 16; ++i) dividends[i] /= divisors[i];
  return load(dividends);
}

// A sum for each of 16 outputs.
struct Acc {
  int32x4_t q[4];
};

inline V finish(Acc acc, const int32_t*) {
  return {{vcvtq_f32_s32(acc.q[0]), vcvtq_f32_s32(acc.q[1]), vcvtq_f32_s32(acc.q[2]), vcvtq_f32_s32(acc.q[3])}};
}

// Vectors of values at a time, for each number of queries.
constexpr int kValueVectorsOf1 = 2, kValueVectorsOf2 = 1, kValueVectorsOf4 = 1;

// Exponentials that are computed together.
constexpr int kExpVectors = 1;

// Queries that share a pass over the keys.
constexpr uint32_t kMostShared = 8;

// The products of four keys.
struct FourDots {
  int32x4_t v;
};

inline int32x2_t add_pair(int32x4_t a, int32x4_t b) {
  return vpadd_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)), vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  const int32x4_t none = vdupq_n_s32(0);
  int32x4_t sum[4] = {none, none, none, none};
  for (uint32_t i = 0; i < n; i += 16) {
    const int8x8_t low = vld1_s8(q + i), high = vld1_s8(q + i + 8);
    for (int k = 0; k < 4; ++k) {  // two products fit 16 bits
      const int16x8_t products = vmlal_s8(vmull_s8(low, vld1_s8(keys[k] + i)), high, vld1_s8(keys[k] + i + 8));
      sum[k] = vpadalq_s16(sum[k], products);
    }
  }
  return {vcombine_s32(add_pair(sum[0], sum[1]), add_pair(sum[2], sum[3]))};
}

inline V join(const FourDots (&dots)[4]) {
  return {{vcvtq_f32_s32(dots[0].v), vcvtq_f32_s32(dots[1].v), vcvtq_f32_s32(dots[2].v), vcvtq_f32_s32(dots[3].v)}};
}

// For 1 and 2 rows: the panels of a tile, and the accumulators that share a sum.
constexpr int kTilePanels[] = {1, 1};
constexpr int kTileSplits[] = {1, 1};
constexpr bool kFinishesTogether = false;
using PackedAcc = Acc;
// There is no instruction for it.
inline uint32_t crc32c_words(uint32_t crc, const void* data, size_t n) { return crc32c(crc, data, n); }
}}  // namespace goldcrest

#include "kernels/arm/neon_packed-inl.h"
#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_layer-inl.h"
// The order matters: the tile uses the layers.
#include "kernels/arm/neon32_tile-inl.h"

namespace goldcrest {
extern const Kernels kernels_arm_neon32;
constexpr Kernels kernels_arm_neon32 = for_this_build(make_packed_table<linear>("arm_neon32", kCpuNeon));
}  // namespace goldcrest
