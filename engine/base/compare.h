// SPDX-License-Identifier: Apache-2.0
// The smaller and the larger of two sizes; the standard library's are templates over references.
#pragma once

#include <cstdint>

namespace goldcrest {

constexpr uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
constexpr uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
constexpr uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

}  // namespace goldcrest
