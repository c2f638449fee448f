// SPDX-License-Identifier: Apache-2.0
// Products and sums of floats. The soft ones are for CPUs without an FPU: the usual numbers take a few dozen integer
// operations. All others are left to the compiler's own functions, which take several times as many instructions.
// Either way a result is rounded once, half to even.
#pragma once

#include "kernels/reference/math.h"

namespace goldcrest { namespace {
constexpr uint32_t kFraction = 0x7fffffu, kLeadingBit = 1u << 23;

inline uint32_t exponent_of(uint32_t bits) { return bits >> 23 & 0xff; }
inline uint32_t mantissa_of(uint32_t bits) { return (bits & kFraction) | kLeadingBit; }

// Returns the float of a sign, an exponent and a mantissa of 24 bits, which `rest` of 2 * half follows.
inline float round_mantissa(uint32_t sign, uint32_t exponent, uint32_t mantissa, uint32_t rest, uint32_t half) {
  if (rest + (mantissa & 1) > half) ++mantissa;
  return bits_float((sign & 0x80000000u) | (((exponent - 1) << 23) + mantissa));
}

[[gnu::noinline, maybe_unused]] float soft_multiply(float a, float b) {
  const uint32_t a_bits = float_bits(a), b_bits = float_bits(b);
  const uint32_t a_exponent = exponent_of(a_bits), b_exponent = exponent_of(b_bits);
  uint32_t exponent = a_exponent + b_exponent - 127;
  // Zeros, denormals, infinities, NaNs, and results near the ends of the range.
  if (a_exponent - 1 >= 254 || b_exponent - 1 >= 254 || exponent - 1 >= 252) return a * b;
  const uint64_t product = uint64_t{mantissa_of(a_bits) << 8} * (mantissa_of(b_bits) << 8);
  uint32_t high = static_cast<uint32_t>(product >> 32), low = static_cast<uint32_t>(product);
  if (high >> 31 != 0) {
    ++exponent;
  } else {
    high = high << 1 | low >> 31;
    low <<= 1;
  }
  return round_mantissa(a_bits ^ b_bits, exponent, high >> 8, (high & 0xff) | (low != 0 ? 1 : 0), 0x80);
}

[[gnu::noinline, maybe_unused]] float soft_add(float a, float b) {
  uint32_t large = float_bits(a), small = float_bits(b);
  if (large << 1 < small << 1) {
    const uint32_t larger = small;
    small = large;
    large = larger;
  }
  uint32_t exponent = exponent_of(large);
  const uint32_t small_exponent = exponent_of(small);
  if (small_exponent == 0 || exponent < 27 || exponent >= 253) {
    const bool adds_zero = small << 1 == 0 && exponent - 1 < 254;
    return adds_zero ? bits_float(large) : a + b;
  }
  // Six bits follow each mantissa. The lowest stands for all that the shift loses.
  uint32_t mantissa = mantissa_of(large) << 6;
  const uint32_t distance = exponent - small_exponent, shift = distance < 31 ? distance : 31;
  const uint32_t addend = mantissa_of(small) << 6;
  const uint32_t shifted = (addend >> shift) | (addend >> shift << shift != addend ? 1 : 0);
  if ((large ^ small) >> 31 == 0) {
    mantissa += shifted;
    if (mantissa >> 30 != 0) {
      mantissa = mantissa >> 1 | (mantissa & 1);
      ++exponent;
    }
  } else {
    mantissa -= shifted;
    if (mantissa == 0) return 0.0f;
    for (; mantissa >> 29 == 0; mantissa <<= 1) --exponent;
  }
  return round_mantissa(large, exponent, mantissa >> 6, mantissa & 63, 32);
}

[[gnu::noinline, maybe_unused]] float soft_to_float(int32_t number) {
  const uint32_t sign = static_cast<uint32_t>(number);
  uint32_t magnitude = number < 0 ? 0 - sign : sign, exponent = 150;
  if (magnitude == 0 || magnitude >> 24 != 0) return static_cast<float>(number);
#pragma GCC unroll 5
  for (uint32_t shift = 16; shift > 0; shift /= 2) {
    if (magnitude >> (24 - shift) != 0) continue;
    magnitude <<= shift;
    exponent -= shift;
  }
  return round_mantissa(sign, exponent, magnitude, 0, 1);
}

// Returns a * number, for |number| <= 128.
[[gnu::noinline, maybe_unused]] float soft_multiply_int8(float a, int32_t number) {
  const uint32_t a_bits = float_bits(a), sign = a_bits ^ static_cast<uint32_t>(number);
  uint32_t exponent = exponent_of(a_bits) + 7;
  if (exponent - 8 >= 246) return a * static_cast<float>(number);
  if (number == 0) return bits_float(sign & 0x80000000u);
  uint32_t product = mantissa_of(a_bits) * 2 * static_cast<uint32_t>(number < 0 ? -number : number);
#pragma GCC unroll 3
  for (uint32_t shift = 4; shift > 0; shift /= 2) {
    if (product >> (32 - shift) != 0) continue;
    product <<= shift;
    exponent -= shift;
  }
  return round_mantissa(sign, exponent, product >> 8, product & 0xff, 0x80);
}

// Returns x * factor, rounded to a float and then to a whole number, halves to even both times. factor is positive and
// from 2^-126 to 2^47; |x * factor| < 127.5
inline int32_t soft_round_product(float x, float factor) {
  const uint32_t x_bits = float_bits(x), factor_bits = float_bits(factor);
  const uint32_t exponent = exponent_of(x_bits) + exponent_of(factor_bits) - 127;
  if (static_cast<int32_t>(exponent) < 125) return 0;  // below 1/2, or just 1/2; also where x is zero or a denormal
  const uint64_t product = uint64_t{mantissa_of(x_bits) << 8} * (mantissa_of(factor_bits) << 8);
  const uint32_t high = static_cast<uint32_t>(product >> 32), carry = high >> 31, shift = 7 + carry;
  const uint32_t rest = high << (32 - shift) | (static_cast<uint32_t>(product) != 0 ? 1 : 0);
  uint32_t mantissa = high >> shift;
  if (rest + (mantissa & 1) > 0x80000000u) ++mantissa;
  const uint32_t fraction_bits = 150 - exponent - carry;
  const auto magnitude = static_cast<int32_t>(
      (mantissa + (1u << (fraction_bits - 1)) - 1 + (mantissa >> fraction_bits & 1)) >> fraction_bits);
  return x_bits >> 31 != 0 ? -magnitude : magnitude;
}

// The steps of exp_float, for x <= 0 or NaN.
[[gnu::noinline, maybe_unused]] float soft_exponential(float x) {
  const uint32_t bits = float_bits(x);
  if (bits - 1 < 0x7fffffffu || bits > 0xc2200000u) return 0.0f;  // NaN, or below -40
  const int32_t n = soft_round_product(x, 1.44269504f);
  const float rest = soft_add(x, soft_multiply_int8(-0.693359375f, n));
  const float r = soft_add(rest, soft_multiply_int8(2.12194440e-4f, n));
  static constexpr float kFactors[] = {
      1.38888889e-3f, 8.33333333e-3f, 4.16666667e-2f, 1.66666667e-1f, 0.5f, 1.0f, 1.0f};
  float p = 1.98412698e-4f;
  for (const float factor : kFactors) p = soft_add(soft_multiply(p, r), factor);
  return bits_float(float_bits(p) + (static_cast<uint32_t>(n) << 23));
}

#if defined(__riscv) && !defined(__riscv_flen)
constexpr bool kHasFpu = false;
inline float multiply(float a, float b) { return soft_multiply(a, b); }
inline float add(float a, float b) { return soft_add(a, b); }
inline float multiply_int8(float a, int8_t number) { return soft_multiply_int8(a, number); }
inline float to_float(int32_t number) { return soft_to_float(number); }
// A number that is negative or not a number has larger bits than infinity.
inline float apply_relu(float number) { return float_bits(number) > 0x7f800000u ? 0.0f : number; }
#else
constexpr bool kHasFpu = true;
inline float multiply(float a, float b) { return a * b; }
inline float add(float a, float b) { return a + b; }
inline float multiply_int8(float a, int8_t number) { return a * static_cast<float>(number); }
inline float to_float(int32_t number) { return static_cast<float>(number); }
inline float apply_relu(float number) { return number > 0.0f ? number : 0.0f; }
#endif
inline float subtract(float a, float b) { return add(a, -b); }
}}  // namespace goldcrest
