// SPDX-License-Identifier: Apache-2.0
// Bounds of the floats in a file. Values within them cannot lead to a denormal or an infinity in a kernel.
#pragma once

#include <stdint.h>

namespace goldcrest {
constexpr uint32_t kBitsOne = 0x3f800000u;  // float bits of 1

// Returns whether every value is in [2^-47, 2^16].
bool scales_in_range(const float* values, uint64_t n);

// Returns whether every value is +0 or has a magnitude in [2^-60, 2^16].
bool values_in_range(const float* values, uint64_t n);

// Returns whether the padding after the first n values, up to a multiple of 16, has these bits.
bool padding_is(const float* values, uint32_t n, uint32_t expected_bits);
}  // namespace goldcrest
