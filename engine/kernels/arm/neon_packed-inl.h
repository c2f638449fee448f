// SPDX-License-Identifier: Apache-2.0
// Defines what vector/packed-inl.h asks for, without dot product instructions. A group has sums of 16 bits, four lanes
// for each output, and its result fits 16 bits, too: at most 32 * 127 * 8. Sums wrap before -8 times the sum of the
// inputs is added. The including file defines PackedAcc.

namespace goldcrest { namespace {
constexpr int kPackedTileRows = 2;
using GroupStart = int16_t;
struct PackedSums {
  int16x8_t q[8];
  int16_t start;
};

inline PackedAcc packed_start(const int32_t*) { return {}; }
inline PackedSums start_group(int16_t start) { return {{}, start}; }

#if !defined(__aarch64__)
inline int16x8_t vpaddq_s16(int16x8_t a, int16x8_t b) {
  return vcombine_s16(vpadd_s16(vget_low_s16(a), vget_high_s16(a)), vpadd_s16(vget_low_s16(b), vget_high_s16(b)));
}
#endif

inline PackedSums add_nibbles(PackedSums sums, W nibbles, const int8_t* x) {
  const int8x16_t four = broadcast_four(x);
  for (int i = 0; i < 4; ++i) {
    sums.q[2 * i] = vmlal_s8(sums.q[2 * i], vget_low_s8(nibbles.q[i]), vget_low_s8(four));
    sums.q[2 * i + 1] = vmlal_s8(sums.q[2 * i + 1], vget_high_s8(nibbles.q[i]), vget_high_s8(four));
  }
  return sums;
}

inline PackedAcc add_group(PackedAcc acc, const PackedSums& sums, const int8_t* multipliers) {
  for (int i = 0; i < 2; ++i) {
    const int16x8_t* const of = sums.q + 4 * i;
    const int16x8_t wrapped = vpaddq_s16(vpaddq_s16(of[0], of[1]), vpaddq_s16(of[2], of[3]));
    const uint16x8_t start = vdupq_n_u16(static_cast<uint16_t>(sums.start));
    const int16x8_t eight = vreinterpretq_s16_u16(vaddq_u16(vreinterpretq_u16_s16(wrapped), start));
    const int16x8_t m = vmovl_s8(vld1_s8(multipliers + 8 * i));
    acc.q[2 * i] = vmlal_s16(acc.q[2 * i], vget_low_s16(eight), vget_low_s16(m));
    acc.q[2 * i + 1] = vmlal_s16(acc.q[2 * i + 1], vget_high_s16(eight), vget_high_s16(m));
  }
  return acc;
}

// Returns -8 times the sum of the inputs.
inline int16_t group_start(const int8_t* x, uint32_t n) {
  int32x4_t sums = vdupq_n_s32(0);
  for (uint32_t i = 0; i < n; i += 16) sums = vpadalq_s16(sums, vpaddlq_s8(vld1q_s8(x + i)));
  const int32x2_t two = vadd_s32(vget_low_s32(sums), vget_high_s32(sums));
  return static_cast<int16_t>(-8 * (vget_lane_s32(two, 0) + vget_lane_s32(two, 1)));
}
}}  // namespace goldcrest
