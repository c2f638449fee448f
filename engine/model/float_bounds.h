// SPDX-License-Identifier: Apache-2.0
// Bounds of the floats in a file: nothing within them can make a denormal or an infinity on its way through a kernel.
#pragma once

#include <cstdint>

namespace goldcrest {

constexpr uint32_t kBitsOne = 0x3f800000u;  // float bits of 1

// Every value is in [2^-47, 2^16].
bool scales_in_range(const float* values, uint64_t n);

// Every value is +0, or has a magnitude in [2^-60, 2^16].
bool values_in_range(const float* values, uint64_t n);

// What lies behind the first n values of an array padded to a multiple of 16 has these bits.
bool padding_is(const float* values, uint32_t n, uint32_t expected_bits);

}  // namespace goldcrest
