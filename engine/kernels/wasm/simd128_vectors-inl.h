// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of vector/kernels-inl.h as four vectors of WebAssembly, with operations that every engine computes to
// the same bits. None is relaxed.
#include <string.h>
#include <wasm_simd128.h>
#include "kernels/kernels.h"
#include "kernels/reference/math.h"

namespace goldcrest { namespace {
struct V {
  v128_t q[4];
};
struct Mask {
  v128_t q[4];
};

// Applies an operation to each of the four vectors.
template <typename Operation> inline V each(V a, V b, Operation operation) {
  for (int i = 0; i < 4; ++i) a.q[i] = operation(a.q[i], b.q[i]);
  return a;
}
template <typename Comparison> inline Mask each_lane(V a, V b, Comparison comparison) {
  Mask mask;
  for (int i = 0; i < 4; ++i) mask.q[i] = comparison(a.q[i], b.q[i]);
  return mask;
}

inline V load(const float* p) {
  return {{wasm_v128_load(p), wasm_v128_load(p + 4), wasm_v128_load(p + 8), wasm_v128_load(p + 12)}};
}
inline V load_first(const float* p, uint32_t n) {
  float lanes[16] = {};
  memcpy(lanes, p, n * sizeof *p);
  return load(lanes);
}
inline void store(float* p, V x) {
  for (int i = 0; i < 4; ++i) wasm_v128_store(p + 4 * i, x.q[i]);
}
inline V set(float x) {
  const v128_t all = wasm_f32x4_splat(x);
  return {{all, all, all, all}};
}

inline V operator+(V a, V b) {
  return each(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_add(x, y); });
}
inline V operator-(V a, V b) {
  return each(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_sub(x, y); });
}
inline V operator*(V a, V b) {
  return each(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_mul(x, y); });
}
inline V operator/(V a, V b) {
  return each(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_div(x, y); });
}
inline V negate(V x) {
  return each(x, x, [](v128_t a, v128_t) { return wasm_f32x4_neg(a); });
}
inline V negative(V x) {
  return each(x, x, [](v128_t a, v128_t) { return wasm_v128_or(a, wasm_f32x4_splat(-0.0f)); });
}
inline Mask greater(V a, V b) {
  return each_lane(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_gt(x, y); });
}
inline Mask not_less(V a, V b) {
  return each_lane(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_ge(x, y); });
}
inline Mask not_greater(V a, V b) {
  return each_lane(a, b, [](v128_t x, v128_t y) { return wasm_f32x4_le(x, y); });
}
inline V select(Mask mask, V yes, V no) {
  V selected;
  for (int i = 0; i < 4; ++i) selected.q[i] = wasm_v128_bitselect(yes.q[i], no.q[i], mask.q[i]);
  return selected;
}
inline V keep(Mask mask, V x) {
  V kept;
  for (int i = 0; i < 4; ++i) kept.q[i] = wasm_v128_and(mask.q[i], x.q[i]);
  return kept;
}

inline v128_t larger_lanes(v128_t x, v128_t y) { return wasm_f32x4_pmax(y, x); }
inline V larger(V x, V y) { return each(x, y, larger_lanes); }

inline V shifted(V x, float first) {
  V moved = {{wasm_i32x4_shuffle(wasm_f32x4_splat(first), x.q[0], 3, 4, 5, 6)}};
  for (int i = 1; i < 4; ++i) moved.q[i] = wasm_i32x4_shuffle(x.q[i - 1], x.q[i], 3, 4, 5, 6);
  return moved;
}
constexpr bool kListsInVectors = true;

inline Mask first_lanes(uint32_t n) {
  const v128_t lanes = wasm_i32x4_const(0, 1, 2, 3), count = wasm_i32x4_splat(static_cast<int32_t>(n));
  Mask mask;
  for (int i = 0; i < 4; ++i) mask.q[i] = wasm_i32x4_lt(wasm_i32x4_add(lanes, wasm_i32x4_splat(4 * i)), count);
  return mask;
}

// Narrows lanes to bytes; a lane outside int8 becomes the nearest int8.
inline v128_t narrow(const v128_t (&lanes)[4]) {
  return wasm_i8x16_narrow_i16x8(
      wasm_i16x8_narrow_i32x4(lanes[0], lanes[1]), wasm_i16x8_narrow_i32x4(lanes[2], lanes[3]));
}

inline uint32_t true_lanes(Mask mask) { return static_cast<uint32_t>(wasm_i8x16_bitmask(narrow(mask.q))); }
inline uint32_t true_lanes(Mask a, Mask b) { return true_lanes(a) | true_lanes(b) << 16; }

// Adding 1.5 * 2^23 leaves no fraction bits and rounds halves to even, for |x| < 2^22. The sum's low bits are those of
// the whole number.
constexpr float kRounding = 12582912.0f;
constexpr int32_t kRoundingBits = 0x4b400000;

struct Power {
  V value;
  v128_t q[4];  // at the position of a float's exponent
};

inline Power nearest_power(V x) {
  Power n;
  const V sum = x + set(kRounding);
  n.value = sum - set(kRounding);
  for (int i = 0; i < 4; ++i) n.q[i] = wasm_i32x4_shl(sum.q[i], 23);
  return n;
}

inline V scale_by_power_of_two(V p, const Power& n) {
  for (int i = 0; i < 4; ++i) p.q[i] = wasm_i32x4_add(p.q[i], n.q[i]);
  return p;
}

inline V subtract_exact(V x, V n, V c) { return x - n * c; }

inline V max_magnitude(V a, V x) {
  return each(a, x, [](v128_t running, v128_t value) {
    return wasm_i32x4_max(running, wasm_v128_and(value, wasm_i32x4_splat(0x7fffffff)));
  });
}

inline v128_t high_half(v128_t x) { return wasm_i32x4_shuffle(x, x, 2, 3, 2, 3); }

inline uint32_t largest_bits(V x) {
  const v128_t four = wasm_i32x4_max(wasm_i32x4_max(x.q[0], x.q[1]), wasm_i32x4_max(x.q[2], x.q[3]));
  const v128_t two = wasm_i32x4_max(four, high_half(four));
  const int32_t a = wasm_i32x4_extract_lane(two, 0), b = wasm_i32x4_extract_lane(two, 1);
  return static_cast<uint32_t>(a > b ? a : b);
}

inline float sum_lanes(V x) {
  const v128_t four = wasm_f32x4_add(wasm_f32x4_add(x.q[0], x.q[2]), wasm_f32x4_add(x.q[1], x.q[3]));
  const v128_t two = wasm_f32x4_add(four, high_half(four));
  return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}

inline float largest_lane(V x) {
  const v128_t four = larger_lanes(larger_lanes(x.q[0], x.q[1]), larger_lanes(x.q[2], x.q[3]));
  const v128_t two = larger_lanes(four, high_half(four));
  const float a = wasm_f32x4_extract_lane(two, 0), b = wasm_f32x4_extract_lane(two, 1);
  return a > b ? a : b;
}

inline V to_floats(const v128_t (&lanes)[4]) {
  return {{wasm_f32x4_convert_i32x4(lanes[0]), wasm_f32x4_convert_i32x4(lanes[1]), wasm_f32x4_convert_i32x4(lanes[2]),
      wasm_f32x4_convert_i32x4(lanes[3])}};
}

inline V widen_int16(v128_t low, v128_t high) {
  return to_floats({wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low),
      wasm_i32x4_extend_low_i16x8(high), wasm_i32x4_extend_high_i16x8(high)});
}
inline V load_int8(const int8_t* p) { return widen_int16(wasm_i16x8_load8x8(p), wasm_i16x8_load8x8(p + 8)); }
inline V load_int8_words(const int8_t* p) {
  const v128_t bytes = wasm_i32x4_make(load_word(p), load_word(p + 64), load_word(p + 128), load_word(p + 192));
  return widen_int16(wasm_i16x8_extend_low_i8x16(bytes), wasm_i16x8_extend_high_i8x16(bytes));
}

inline void store_int8(int8_t* p, V x) {
  V sum = x + set(kRounding);
  for (v128_t& lanes : sum.q) lanes = wasm_i32x4_sub(lanes, wasm_i32x4_splat(kRoundingBits));
  wasm_v128_store(p, narrow(sum.q));
}
inline void store_int8(int8_t* p, const V (&x)[4]) {
  for (int i = 0; i < 4; ++i) store_int8(p + 16 * i, x[i]);
}

inline void store_int16(int16_t* p, V x) {
  V sum = x + set(kRounding);
  for (v128_t& lanes : sum.q) lanes = wasm_i32x4_sub(lanes, wasm_i32x4_splat(kRoundingBits));
  wasm_v128_store(p, wasm_i16x8_narrow_i32x4(sum.q[0], sum.q[1]));
  wasm_v128_store(p + 8, wasm_i16x8_narrow_i32x4(sum.q[2], sum.q[3]));
}

struct Pairs {
  v128_t q[4];
};

inline Pairs load_pairs(const int8_t* a, const int8_t* b) {
  Pairs pairs;
  for (int i = 0; i < 4; i += 2) {
    const v128_t first = wasm_i16x8_load8x8(a + 4 * i), second = wasm_i16x8_load8x8(b + 4 * i);
    pairs.q[i] = wasm_i16x8_shuffle(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
    pairs.q[i + 1] = wasm_i16x8_shuffle(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  return pairs;
}

struct Sums {
  v128_t q[4];
};

inline Sums load_sums(const float* p) {
  const V bits = load(p);
  return {{bits.q[0], bits.q[1], bits.q[2], bits.q[3]}};
}
inline void store_sums(float* p, const Sums& x) { store(p, {{x.q[0], x.q[1], x.q[2], x.q[3]}}); }
inline V to_floats(const Sums& x) { return to_floats(x.q); }

inline Sums add_pairs(Sums sums, const Pairs& values, int32_t weights) {
  for (int i = 0; i < 4; ++i)
    sums.q[i] = wasm_i32x4_add(sums.q[i], wasm_i32x4_dot_i16x8(values.q[i], wasm_i32x4_splat(weights)));
  return sums;
}
constexpr int kPairRows = 4, kPairVectors = 1;  // queries and vectors of values that are multiplied together

// 64 bytes of a panel: four outputs a vector.
struct W {
  v128_t q[4];
};

inline W load_panel(const int8_t* w) {
  return {{wasm_v128_load(w), wasm_v128_load(w + 16), wasm_v128_load(w + 32), wasm_v128_load(w + 48)}};
}

inline W smaller_int8(W a, W b) {
  for (int i = 0; i < 4; ++i) a.q[i] = wasm_i8x16_min(a.q[i], b.q[i]);
  return a;
}

inline W add_fours(W sums, W w) {
  for (int i = 0; i < 4; ++i) {
    const v128_t pairs = wasm_i16x8_extadd_pairwise_i8x16(w.q[i]);
    sums.q[i] = wasm_i32x4_add(sums.q[i], wasm_i32x4_extadd_pairwise_i16x8(pairs));
  }
  return sums;
}

// The lanes of two vectors in turn: those of the lower halves, or of the upper ones.
inline v128_t low_in_turn(v128_t a, v128_t b) { return wasm_i32x4_shuffle(a, b, 0, 4, 1, 5); }
inline v128_t high_in_turn(v128_t a, v128_t b) { return wasm_i32x4_shuffle(a, b, 2, 6, 3, 7); }
// The lower halves of two vectors, or the upper ones.
inline v128_t low_halves(v128_t a, v128_t b) { return wasm_i64x2_shuffle(a, b, 0, 2); }
inline v128_t high_halves(v128_t a, v128_t b) { return wasm_i64x2_shuffle(a, b, 1, 3); }

inline void transpose_words(const int8_t* from, size_t stride, int8_t* to) {
  for (int i = 0; i < 4; ++i, from += 4 * stride, to += 16) {
    const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + stride);
    const v128_t c = wasm_v128_load(from + 2 * stride), d = wasm_v128_load(from + 3 * stride);
    const v128_t ab_low = low_in_turn(a, b), ab_high = high_in_turn(a, b);
    const v128_t cd_low = low_in_turn(c, d), cd_high = high_in_turn(c, d);
    wasm_v128_store(to, low_halves(ab_low, cd_low));
    wasm_v128_store(to + 64, high_halves(ab_low, cd_low));
    wasm_v128_store(to + 128, low_halves(ab_high, cd_high));
    wasm_v128_store(to + 192, high_halves(ab_high, cd_high));
  }
}
}}  // namespace goldcrest
