// SPDX-License-Identifier: Apache-2.0
// The smaller and the larger of two numbers.
#pragma once

namespace goldcrest {
template <typename T> constexpr T smaller(T a, T b) { return a < b ? a : b; }

template <typename T> constexpr T larger(T a, T b) { return a > b ? a : b; }
}  // namespace goldcrest
