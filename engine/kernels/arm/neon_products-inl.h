// SPDX-License-Identifier: Apache-2.0
// Products of int8 without dot product instructions: two of them are added in 16 bits, which cannot overflow because
// both factors lie in [-127, 127], then pairwise into 32. On the vectors of arm/neon_vectors-inl.h.

namespace goldcrest {
namespace {

constexpr int kBlockInputs = 8, kXBlocks = 1;

// Two sums for each of 16 outputs.
struct Acc {
  int32x4_t q[8];
};

inline Acc add(Acc a, Acc b) {
  for (int i = 0; i < 8; ++i) a.q[i] = vaddq_s32(a.q[i], b.q[i]);
  return a;
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

// The first and the last four of eight activations, twice each.
struct X {
  int8x8_t first, last;
};

inline X broadcast(const int8_t* x) { return {vget_low_s8(broadcast_four(x)), vget_low_s8(broadcast_four(x + 4))}; }

template <int kRows>
inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  for (int i = 0; i < 4; ++i) {
    const int8x16_t first = vld1q_s8(w + 16 * i), last = vld1q_s8(w + 64 + 16 * i);
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(first), x.first), vget_low_s8(last), x.last);
    const int16x8_t high = vmlal_s8(vmull_s8(vget_high_s8(first), x.first), vget_high_s8(last), x.last);
    acc.q[2 * i] = vpadalq_s16(acc.q[2 * i], low);
    acc.q[2 * i + 1] = vpadalq_s16(acc.q[2 * i + 1], high);
  }
  return acc;
}

}  // namespace
}  // namespace goldcrest
