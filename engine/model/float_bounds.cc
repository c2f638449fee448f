// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "model/float_bounds.h"
#include <string.h>
#include "base/align.h"

namespace goldcrest {
namespace {
// Magnitudes of FORMAT.md, section 4, as float bits.
constexpr uint32_t kBits2ToMinus60 = 0x21800000u;
constexpr uint32_t kBits2ToMinus47 = 0x28000000u;
constexpr uint32_t kBits2To16 = 0x47800000u;

uint32_t bits_at(const float* values, uint64_t i) {
  uint32_t bits;
  memcpy(&bits, values + i, sizeof bits);
  return bits;
}

// Sets the sign bit of the result if `bits` are outside [low, high]. `bits` must have no sign bit. Branches are
// avoided, so that the compiler vectorizes the loops below.
uint32_t beyond(uint32_t bits, uint32_t low, uint32_t high) { return (bits - low) | (high - bits); }

constexpr uint32_t kSignBit = 0x80000000u;
}  // namespace

bool scales_in_range(const float* values, uint64_t n) {
  uint32_t outside = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t bits = bits_at(values, i);
    outside |= beyond(bits, kBits2ToMinus47, kBits2To16) | bits;
  }
  return (outside & kSignBit) == 0;
}

bool values_in_range(const float* values, uint64_t n) {
  uint32_t outside = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t bits = bits_at(values, i);
    outside |= bits == 0 ? 0 : beyond(bits & ~kSignBit, kBits2ToMinus60, kBits2To16);
  }
  return (outside & kSignBit) == 0;
}

bool padding_is(const float* values, uint32_t n, uint32_t expected_bits) {
  bool good = true;
  for (uint32_t i = n; i < pad16(n); ++i) good &= bits_at(values, i) == expected_bits;
  return good;
}
}  // namespace goldcrest
