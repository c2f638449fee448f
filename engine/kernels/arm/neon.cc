// SPDX-License-Identifier: Apache-2.0
// AArch64 without dot product instructions (Raspberry Pi 3, 4, Zero 2 W).
#include "kernels/arm/aarch64_vectors-inl.h"
#include "kernels/arm/neon_products-inl.h"

namespace goldcrest {
namespace {

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

// A row's sums take eight of the 32 registers. For 1, 2, ... rows: the panels of a tile, and how many accumulators
// share a sum.
constexpr int kTilePanels[] = {1, 1};
constexpr int kTileSplits[] = {1, 1};

}  // namespace
}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"

namespace goldcrest {
namespace {

constexpr Kernels make_table() {
  Kernels table = make_vector_table("arm_neon", kCpuNeon | kCpuCrc32);
  table.crc32c = crc32c_words;
  return table;
}

}  // namespace

extern const Kernels kernels_arm_neon;
constexpr Kernels kernels_arm_neon = make_table();

}  // namespace goldcrest
