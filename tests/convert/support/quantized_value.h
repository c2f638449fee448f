// SPDX-License-Identifier: Apache-2.0
// What a float may become as an int8 of a row with a scale of least error (FORMAT.md, section 4).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace goldcrest::test {

// q is the step of `scale` nearest to x, or the end of the range where x lies beyond it; never by more than a fifth.
inline ::testing::AssertionResult is_quantized(int q, float scale, double x) {
  const double steps = x / double{scale};
  if (std::fabs(steps - q) <= 0.50001) return ::testing::AssertionSuccess();
  const bool is_clipped = std::abs(q) == 127 && std::signbit(x) == (q < 0) && std::fabs(steps) > 127;
  if (is_clipped && std::fabs(steps) <= 127 / 0.79999) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << x << " is " << steps << " steps of " << scale << ", but " << q
                                       << " was stored";
}

}  // namespace goldcrest::test
