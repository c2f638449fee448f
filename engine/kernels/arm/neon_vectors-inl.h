// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of vector/kernels-inl.h as four registers of Advanced SIMD: the part that AArch64 and ARMv7 share.
#include <arm_neon.h>
#include <string.h>
#include "base/crc32c.h"
#include "kernels/cpu_features.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"

namespace goldcrest { namespace {
struct V {
  float32x4_t q[4];
};
struct Mask {
  uint32x4_t q[4];
};

// Returns the low halves of the lanes of a, then those of b.
#if defined(__aarch64__)
inline uint16x8_t first_halves(uint32x4_t a, uint32x4_t b) {
  return vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
}
inline uint8x16_t first_halves(uint16x8_t a, uint16x8_t b) {
  return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}
#else
inline uint16x8_t first_halves(uint32x4_t a, uint32x4_t b) { return vcombine_u16(vmovn_u32(a), vmovn_u32(b)); }
inline uint8x16_t first_halves(uint16x8_t a, uint16x8_t b) { return vcombine_u8(vmovn_u16(a), vmovn_u16(b)); }
#endif

inline V load(const float* p) { return {{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}}; }
inline V load_first(const float* p, uint32_t n) {
  float lanes[16] = {};
  memcpy(lanes, p, n * sizeof *p);
  return load(lanes);
}
inline void store(float* p, V x) {
  vst1q_f32(p, x.q[0]);
  vst1q_f32(p + 4, x.q[1]);
  vst1q_f32(p + 8, x.q[2]);
  vst1q_f32(p + 12, x.q[3]);
}
inline V set(float x) {
  const float32x4_t all = vdupq_n_f32(x);
  return {{all, all, all, all}};
}

// Rounds halves to even; |x| < 2^22.
inline int32x4_t round_to_int(float32x4_t x) {
#if defined(__aarch64__)
  return vcvtnq_s32_f32(x);
#else  // adding 1.5 * 2^23 leaves no fraction bits
  const float32x4_t large = vdupq_n_f32(12582912.0f);
  return vcvtq_s32_f32(vsubq_f32(vaddq_f32(x, large), large));
#endif
}

// Applies an operation to each of the four registers.
template <typename Operation> inline V each(V a, V b, Operation operation) {
  return {{operation(a.q[0], b.q[0]), operation(a.q[1], b.q[1]), operation(a.q[2], b.q[2]), operation(a.q[3], b.q[3])}};
}
template <typename Comparison> inline Mask each_lane(V a, V b, Comparison comparison) {
  return {
      {comparison(a.q[0], b.q[0]), comparison(a.q[1], b.q[1]), comparison(a.q[2], b.q[2]), comparison(a.q[3], b.q[3])}};
}

inline V operator+(V a, V b) {
  return each(a, b, [](float32x4_t x, float32x4_t y) { return vaddq_f32(x, y); });
}
inline V operator-(V a, V b) {
  return each(a, b, [](float32x4_t x, float32x4_t y) { return vsubq_f32(x, y); });
}
inline V operator*(V a, V b) {
  return each(a, b, [](float32x4_t x, float32x4_t y) { return vmulq_f32(x, y); });
}
inline V negate(V x) {
  return each(x, x, [](float32x4_t a, float32x4_t) { return vnegq_f32(a); });
}
inline V negative(V x) {
  return each(x, x, [](float32x4_t a, float32x4_t) { return vnegq_f32(vabsq_f32(a)); });
}
inline Mask greater(V a, V b) {
  return each_lane(a, b, [](float32x4_t x, float32x4_t y) { return vcgtq_f32(x, y); });
}
inline Mask not_less(V a, V b) {
  return each_lane(a, b, [](float32x4_t x, float32x4_t y) { return vcgeq_f32(x, y); });
}
inline Mask not_greater(V a, V b) { return not_less(b, a); }
inline V select(Mask mask, V yes, V no) {
  V selected;
  for (int i = 0; i < 4; ++i) selected.q[i] = vbslq_f32(mask.q[i], yes.q[i], no.q[i]);
  return selected;
}
inline V keep(Mask mask, V x) {
  V kept;
  for (int i = 0; i < 4; ++i) kept.q[i] = vreinterpretq_f32_u32(vandq_u32(mask.q[i], vreinterpretq_u32_f32(x.q[i])));
  return kept;
}

inline V larger(V x, V y) { return select(greater(x, y), x, y); }

inline V shifted(V x, float first) {
  V moved = {{vextq_f32(vdupq_n_f32(first), x.q[0], 3)}};
  for (int i = 1; i < 4; ++i) moved.q[i] = vextq_f32(x.q[i - 1], x.q[i], 3);
  return moved;
}
#if defined(__aarch64__)
constexpr bool kListsInVectors = true;
#else  // Advanced SIMD of ARMv7 compares denormal numbers as zeros
constexpr bool kListsInVectors = false;
#endif

inline Mask first_lanes(uint32_t n) {
  static constexpr uint32_t kLanes[4] = {0, 1, 2, 3};
  Mask mask;
  for (uint32_t i = 0; i < 4; ++i)
    mask.q[i] = vcltq_u32(vaddq_u32(vld1q_u32(kLanes), vdupq_n_u32(4 * i)), vdupq_n_u32(n));
  return mask;
}

// Returns a byte for each lane: 0, or for a true lane the bit of its place among eight.
inline uint8x16_t lane_bits(Mask mask) {
  static constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint16x8_t low = first_halves(mask.q[0], mask.q[1]), high = first_halves(mask.q[2], mask.q[3]);
  return vandq_u8(first_halves(low, high), vld1q_u8(kBits));
}
#if defined(__aarch64__)
inline uint32_t true_lanes(Mask a, Mask b) {
  uint8x16_t sums = vpaddq_u8(lane_bits(a), lane_bits(b));
  sums = vpaddq_u8(sums, sums);
  return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(sums, sums)), 0);
}
inline uint32_t true_lanes(Mask mask) { return true_lanes(mask, mask) & 0xffff; }
#else
inline uint32_t true_lanes(Mask mask) {
  const uint8x16_t bits = lane_bits(mask);
  uint8x8_t sums = vpadd_u8(vget_low_u8(bits), vget_high_u8(bits));
  sums = vpadd_u8(sums, sums);
  sums = vpadd_u8(sums, sums);
  return vget_lane_u16(vreinterpret_u16_u8(sums), 0);
}
inline uint32_t true_lanes(Mask a, Mask b) { return true_lanes(a) | true_lanes(b) << 16; }
#endif

struct Power {
  V value;
  int32x4_t q[4];
};

inline Power nearest_power(V x) {
  Power n;
  for (int i = 0; i < 4; ++i) {
    n.q[i] = round_to_int(x.q[i]);
    n.value.q[i] = vcvtq_f32_s32(n.q[i]);
  }
  return n;
}

inline V scale_by_power_of_two(V p, const Power& n) {
  for (int i = 0; i < 4; ++i)
    p.q[i] = vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p.q[i]), vshlq_n_s32(n.q[i], 23)));
  return p;
}

// ARMv7's first NEON has no fused operation.
inline V subtract_exact(V x, V n, V c) {
#if defined(__aarch64__)
  for (int i = 0; i < 4; ++i) x.q[i] = vfmsq_f32(x.q[i], n.q[i], c.q[i]);
  return x;
#else
  return x - n * c;
#endif
}

inline V max_magnitude(V a, V x) {
  return each(a, x, [](float32x4_t running, float32x4_t value) {
    const uint32x4_t magnitude = vandq_u32(vreinterpretq_u32_f32(value), vdupq_n_u32(0x7fffffffu));
    return vreinterpretq_f32_u32(vmaxq_u32(vreinterpretq_u32_f32(running), magnitude));
  });
}

inline uint32_t largest_bits(V x) {
  const uint32x4_t a = vmaxq_u32(vreinterpretq_u32_f32(x.q[0]), vreinterpretq_u32_f32(x.q[1]));
  const uint32x4_t b = vmaxq_u32(vreinterpretq_u32_f32(x.q[2]), vreinterpretq_u32_f32(x.q[3]));
  const uint32x4_t four = vmaxq_u32(a, b);
  const uint32x2_t two = vmax_u32(vget_low_u32(four), vget_high_u32(four));
  return vget_lane_u32(vpmax_u32(two, two), 0);
}

inline float sum_lanes(V x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.q[0], x.q[2]), vaddq_f32(x.q[1], x.q[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

inline float largest_lane(V x) {
  const float32x4_t four = vmaxq_f32(vmaxq_f32(x.q[0], x.q[1]), vmaxq_f32(x.q[2], x.q[3]));
  const float32x2_t two = vmax_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(vpmax_f32(two, two), 0);
}

// Returns 16 int8 as floats. arm/widen_by_conversion-inl.h or arm/widen_by_bits-inl.h defines it.
inline V widen_int8(int8x16_t bytes);
inline V load_int8(const int8_t* p) { return widen_int8(vld1q_s8(p)); }

inline V load_int8_words(const int8_t* p) {
  int32x4_t words = vdupq_n_s32(load_word(p));
  words = vsetq_lane_s32(load_word(p + 64), words, 1);
  words = vsetq_lane_s32(load_word(p + 128), words, 2);
  return widen_int8(vreinterpretq_s8_s32(vsetq_lane_s32(load_word(p + 192), words, 3)));
}

// Adding 1.5 * 2^23 leaves the rounded number in a float's last bits.
inline uint32x4_t round_to_last_bits(float32x4_t x) {
  return vreinterpretq_u32_f32(vaddq_f32(x, vdupq_n_f32(12582912.0f)));
}
inline void store_int8(int8_t* p, V x) {
  const uint16x8_t low = first_halves(round_to_last_bits(x.q[0]), round_to_last_bits(x.q[1]));
  const uint16x8_t high = first_halves(round_to_last_bits(x.q[2]), round_to_last_bits(x.q[3]));
  vst1q_s8(p, vreinterpretq_s8_u8(first_halves(low, high)));
}
inline void store_int8(int8_t* p, const V (&x)[4]) {
  for (int i = 0; i < 4; ++i) store_int8(p + 16 * i, x[i]);
}

inline void store_halves(int8_t* high, int8_t* low, V x) {
  const uint16x8_t words[] = {first_halves(round_to_last_bits(x.q[0]), round_to_last_bits(x.q[1])),
      first_halves(round_to_last_bits(x.q[2]), round_to_last_bits(x.q[3]))};
  const auto shifted = [&](int i) { return vshrq_n_u16(words[i], 7); };
  vst1q_s8(high, vreinterpretq_s8_u8(first_halves(shifted(0), shifted(1))));
  vst1q_s8(low, vreinterpretq_s8_u8(vandq_u8(first_halves(words[0], words[1]), vdupq_n_u8(127))));
}

struct Sums {
  int32x4_t q[4];
};

inline Sums load_sums(const float* p) {
  Sums sums;
  for (int i = 0; i < 4; ++i) sums.q[i] = vreinterpretq_s32_f32(vld1q_f32(p + 4 * i));
  return sums;
}
inline void store_sums(float* p, const Sums& x) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, vreinterpretq_f32_s32(x.q[i]));
}
inline V to_floats(const Sums& x) {
  return {{vcvtq_f32_s32(x.q[0]), vcvtq_f32_s32(x.q[1]), vcvtq_f32_s32(x.q[2]), vcvtq_f32_s32(x.q[3])}};
}

// Adds whole numbers.
inline Sums add_whole(Sums sums, V x) {
  for (int i = 0; i < 4; ++i) sums.q[i] = vaddq_s32(sums.q[i], vcvtq_s32_f32(x.q[i]));
  return sums;
}

inline void store_int16(int16_t* p, V x) {
  for (int i = 0; i < 4; i += 2) {
    const uint16x8_t words = first_halves(round_to_last_bits(x.q[i]), round_to_last_bits(x.q[i + 1]));
    vst1q_s8(reinterpret_cast<int8_t*>(p + 4 * i), vreinterpretq_s8_u16(words));  // p is in an array of floats
  }
}

struct Pairs {
  int16x4_t first[4], second[4];
};

inline Pairs load_pairs(const int8_t* a, const int8_t* b) {
  Pairs pairs;
  for (int i = 0; i < 4; i += 2) {
    const int16x8_t x = vmovl_s8(vld1_s8(a + 4 * i)), y = vmovl_s8(vld1_s8(b + 4 * i));
    pairs.first[i] = vget_low_s16(x), pairs.first[i + 1] = vget_high_s16(x);
    pairs.second[i] = vget_low_s16(y), pairs.second[i + 1] = vget_high_s16(y);
  }
  return pairs;
}

inline Sums add_pairs(Sums sums, const Pairs& values, int32_t weights) {
  const int16x4_t both = vreinterpret_s16_s32(vdup_n_s32(weights));
  for (int i = 0; i < 4; ++i) {
    sums.q[i] = vmlal_lane_s16(sums.q[i], values.first[i], both, 0);
    sums.q[i] = vmlal_lane_s16(sums.q[i], values.second[i], both, 1);
  }
  return sums;
}

inline void transpose_bytes(const int8_t* from, size_t stride, int8_t* to) {
  const int8x16x4_t rows = {
      {vld1q_s8(from), vld1q_s8(from + stride), vld1q_s8(from + 2 * stride), vld1q_s8(from + 3 * stride)}};
  vst4q_s8(to, rows);
}

// 64 bytes of a panel: four outputs a register.
struct W {
  int8x16_t q[4];
};

inline W load_panel(const int8_t* w) { return {{vld1q_s8(w), vld1q_s8(w + 16), vld1q_s8(w + 32), vld1q_s8(w + 48)}}; }

inline W smaller_int8(W a, W b) {
  for (int i = 0; i < 4; ++i) a.q[i] = vminq_s8(a.q[i], b.q[i]);
  return a;
}

inline W add_fours(W sums, W w) {
  for (int i = 0; i < 4; ++i) {
    const int32x4_t four = vpadalq_s16(vreinterpretq_s32_s8(sums.q[i]), vpaddlq_s8(w.q[i]));
    sums.q[i] = vreinterpretq_s8_s32(four);
  }
  return sums;
}

inline W low_nibbles(W w) {
  for (int i = 0; i < 4; ++i) w.q[i] = vandq_s8(w.q[i], vdupq_n_s8(15));
  return w;
}
inline W high_nibbles(W w) {
  for (int i = 0; i < 4; ++i) w.q[i] = vreinterpretq_s8_u8(vshrq_n_u8(vreinterpretq_u8_s8(w.q[i]), 4));
  return w;
}

inline void transpose_words(const int8_t* from, size_t stride, int8_t* to) {
  for (int i = 0; i < 4; ++i, from += 4 * stride, to += 16) {
    const auto row = [&](size_t r) { return vreinterpretq_s32_s8(vld1q_s8(from + r * stride)); };
    const int32x4x2_t ab = vtrnq_s32(row(0), row(1)), cd = vtrnq_s32(row(2), row(3));
    const auto put = [&](int word, int32x2_t low, int32x2_t high) {
      vst1q_s8(to + 64 * word, vreinterpretq_s8_s32(vcombine_s32(low, high)));
    };
    put(0, vget_low_s32(ab.val[0]), vget_low_s32(cd.val[0]));
    put(1, vget_low_s32(ab.val[1]), vget_low_s32(cd.val[1]));
    put(2, vget_high_s32(ab.val[0]), vget_high_s32(cd.val[0]));
    put(3, vget_high_s32(ab.val[1]), vget_high_s32(cd.val[1]));
  }
}

// Four activations in every lane.
inline int8x16_t broadcast_four(const int8_t* x) { return vreinterpretq_s8_s32(vdupq_n_s32(load_word(x))); }
}}  // namespace goldcrest
