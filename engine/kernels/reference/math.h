// SPDX-License-Identifier: Apache-2.0
// Elementary functions that use only + - * / and bit patterns, so that they give the same bits on every machine.
// Arguments may have any bits. Everything is `static`, so a copy that is compiled for one ISA never leaks into
// another's file.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "Goldcrest must not be compiled with -ffast-math: the bits would differ"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "float expressions must be evaluated in float (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif

namespace goldcrest {
[[maybe_unused]] static inline uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

[[maybe_unused]] static inline float bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Loads four bytes from an address without alignment.
[[maybe_unused]] static inline int32_t load_word(const int8_t* p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

// Rounds half to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no fraction bits.
[[maybe_unused]] static inline float round_half_even(float x) { return (x + 12582912.0f) - 12582912.0f; }

// Returns the correctly rounded square root by integers, for CPUs without an instruction; NaN below zero.
//   x = m 2^e, e even, m in [2^48, 2^50): the integer part of sqrt(m) has 25 bits, the result 24. The last bit
//   decides the rounding, because no square root is half-way between two floats.
[[maybe_unused]] static inline float sqrt_float_portable(float x) {
  uint32_t bits = float_bits(x);
  if (bits << 1 == 0 || bits == 0x7f800000u || (bits & 0x7fffffffu) > 0x7f800000u) return x;  // 0, infinity, NaN
  if (bits >> 31 != 0) return bits_float(0x7fc00000u);
  int32_t exponent = static_cast<int32_t>(bits >> 23);
  if (exponent == 0)  // denormal
    for (exponent = 1; bits < 1u << 23; --exponent) bits <<= 1;
  const uint32_t mantissa = (bits & 0x7fffffu) | 1u << 23;
  exponent -= 150;
  const int32_t shift = 26 - (exponent & 1);
  const uint64_t square = uint64_t{mantissa} << shift;
  uint32_t root = 0;
  for (uint32_t bit = 1u << 24; bit != 0; bit >>= 1) {
    const uint32_t larger = root | bit;
    if (uint64_t{larger} * larger <= square) root = larger;
  }
  // Adding the mantissa with its leading bit increases the exponent by one.
  return bits_float((static_cast<uint32_t>((exponent - shift) / 2 + 150) << 23) + ((root + 1) >> 1));
}

// Returns the correctly rounded square root.
[[maybe_unused]] static inline float sqrt_float(float x) {
#if defined(__SSE2__) || defined(__aarch64__) || (defined(__ARM_FP) && (__ARM_FP & 4)) || defined(__riscv_flen) || \
    defined(__wasm__)
  return __builtin_sqrtf(x);  // one instruction
#else
  return sqrt_float_portable(x);
#endif
}

// e^x, relative error below 2e-7; exactly 0 below -40 and for NaN, and e^88 above 88.
//   x = n ln 2 + r with |r| <= ln(2)/2, ln 2 in two parts; Taylor series of e^r to r^7; 2^n by the exponent bits
[[maybe_unused]] static inline float exp_float(float x) {
  if (!(x >= -40.0f)) return 0.0f;
  if (x > 88.0f) x = 88.0f;
  const float n = round_half_even(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return bits_float(float_bits(p) + (static_cast<uint32_t>(static_cast<int32_t>(n)) << 23));
}

// e^x for x <= 0 or NaN, relative error below 8e-5, exactly 0 below -40 and for NaN: enough for weights of 14 bits.
//   e^x = 2^n 2^r with |r| <= 1/2; the cubic polynomial whose largest relative error is the least (Remez's algorithm)
[[maybe_unused]] static inline float short_exp_float(float x) {
  if (!(x >= -40.0f)) return 0.0f;
  const float y = x * 1.44269504f;
  const float n = round_half_even(y), r = y - n;
  const float p = ((0.0551716685f * r + 0.242611125f) * r + 0.693260968f) * r + 0.999928057f;
  return bits_float(float_bits(p) + (static_cast<uint32_t>(static_cast<int32_t>(n)) << 23));
}

// Natural logarithm of a normal positive x, relative error below 3e-7.
//   x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)) by its series
[[maybe_unused]] static inline float log_float(float x) {
  const uint32_t bits = float_bits(x);
  const int32_t e =
      static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;  // 0x3f3504f3 is sqrt(1/2); the shift keeps the sign
  const float m = bits_float(bits - (static_cast<uint32_t>(e) << 23));
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  float p = 0.111111111f;
  p = p * z + 0.142857143f;
  p = p * z + 0.2f;
  p = p * z + 0.333333333f;
  p = p * z + 1.0f;
  const float n = static_cast<float>(e);
  return (n * 0.693359375f + (2.0f * s) * p) + n * -2.12194440e-4f;
}

// 1 / (1 + e^-x), from e^-|x| so that nothing overflows; relative error below 4e-7 for |x| <= 40.
[[maybe_unused]] static inline float sigmoid_float(float x) {
  const float e = exp_float(x < 0.0f ? x : -x);
  const float inverse = 1.0f / (1.0f + e);
  return x < 0.0f ? e * inverse : inverse;
}

// (1 - e^-2|x|) / (1 + e^-2|x|) with the sign of x; absolute error below 2e-7. exponential: exp_float, or a shared copy
[[maybe_unused]] static inline float tanh_by(float (*exponential)(float), float x) {
  const float e = exponential(x < 0.0f ? 2.0f * x : -2.0f * x);
  const float t = (1.0f - e) / (1.0f + e);
  return x < 0.0f ? -t : t;
}

[[maybe_unused]] static inline float tanh_float(float x) { return tanh_by(exp_float, x); }

// Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7 before rounding, 6e-7 after.
[[maybe_unused]] static inline float erf_float(float x) {
  const float a = x < 0.0f ? -x : x;
  const float t = 1.0f / (1.0f + 0.3275911f * a);
  float p = 1.061405429f;
  p = p * t + -1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t + -0.284496736f;
  p = p * t + 0.254829592f;
  const float y = 1.0f - (p * t) * exp_float(-(a * a));
  return x < 0.0f ? -y : y;
}
}  // namespace goldcrest
