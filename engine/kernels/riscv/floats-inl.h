// SPDX-License-Identifier: Apache-2.0
// Products and sums of floats. The soft ones are for CPUs without an FPU: the usual numbers take a few dozen integer
// operations. All others are left to the compiler's own functions, which take several times as many instructions.
// Either way a result is rounded once, half to even.
#pragma once

#include "kernels/reference/math.h"

namespace goldcrest {
namespace {

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
  if (small_exponent == 0 || exponent < 27 || exponent >= 253) return a + b;
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

#if defined(__riscv) && !defined(__riscv_flen)
inline float multiply(float a, float b) { return soft_multiply(a, b); }
inline float add(float a, float b) { return soft_add(a, b); }
inline float to_float(int32_t number) { return soft_to_float(number); }
// A number that is negative or not a number has larger bits than infinity.
inline float apply_relu(float number) { return float_bits(number) > 0x7f800000u ? 0.0f : number; }
#else
inline float multiply(float a, float b) { return a * b; }
inline float add(float a, float b) { return a + b; }
inline float to_float(int32_t number) { return static_cast<float>(number); }
inline float apply_relu(float number) { return number > 0.0f ? number : 0.0f; }
#endif
inline float subtract(float a, float b) { return add(a, -b); }

}  // namespace
}  // namespace goldcrest
