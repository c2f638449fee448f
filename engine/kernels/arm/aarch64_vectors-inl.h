// SPDX-License-Identifier: Apache-2.0
// Operations of AArch64's tables that ARMv7 lacks (see arm/neon_vectors-inl.h): vector division, and sums of four
// lanes.
#if !defined(__aarch64__) || !defined(__ARM_FEATURE_CRC32)
#error "compile for AArch64 with CRC-32 instructions"
#endif
#include <arm_acle.h>
#include "kernels/arm/neon_vectors-inl.h"

namespace goldcrest { namespace {
inline uint32_t crc_word(uint32_t crc, uint64_t eight_bytes) { return __crc32cd(crc, eight_bytes); }
inline uint32_t crc_byte(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }

inline V operator/(V a, V b) {
  return each(a, b, [](float32x4_t x, float32x4_t y) { return vdivq_f32(x, y); });
}

// Vectors of values at a time, for each number of queries.
constexpr int kValueVectorsOf1 = 4, kValueVectorsOf2 = 2, kValueVectorsOf4 = 1;

// Exponentials that are computed together.
constexpr int kExpVectors = 1;

// Queries that share a pass over the keys.
constexpr uint32_t kMostShared = 8;

// The products of four keys.
struct FourDots {
  int32x4_t v;
};

inline FourDots add_lanes(const int32x4_t (&sum)[4]) {
  return {vpaddq_s32(vpaddq_s32(sum[0], sum[1]), vpaddq_s32(sum[2], sum[3]))};
}

inline V join(const FourDots (&dots)[4]) {
  return {{vcvtq_f32_s32(dots[0].v), vcvtq_f32_s32(dots[1].v), vcvtq_f32_s32(dots[2].v), vcvtq_f32_s32(dots[3].v)}};
}
}}  // namespace goldcrest

#include "kernels/vector/crc32c_words-inl.h"
