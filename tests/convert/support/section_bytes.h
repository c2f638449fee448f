// SPDX-License-Identifier: Apache-2.0
// The bytes of a file image, and its weights as numbers.
#pragma once

#include "base/align.h"
#include "file/section_writer.h"
#include "support/test.h"

namespace goldcrest::test {
// A section with the bytes that the file will have.

inline std::vector<uint8_t> section_bytes(const converter::SectionBytes& section) {
  std::vector<uint8_t> bytes(section.size());
  uint64_t at = 0;
  for (const std::vector<uint8_t>& array : section.arrays) {
    std::copy(array.begin(), array.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += align_bytes(array.size());
  }
  return bytes;
}

// Checks an int8 value of a row that has a scale of least error (FORMAT.md, section 4).

// q is the step of `scale` nearest to x. If x is outside the range, q is the range's end, at least four fifths of x.
inline ::testing::AssertionResult is_quantized(int q, float scale, double x) {
  const double steps = x / double{scale};
  if (std::fabs(steps - q) <= 0.50001) return ::testing::AssertionSuccess();
  const bool is_clipped = std::abs(q) == 127 && std::signbit(x) == (q < 0) && std::fabs(steps) > 127;
  if (is_clipped && std::fabs(steps) <= 127 / 0.79999) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << x << " is " << steps << " steps of " << scale << ", but " << q
                                       << " was stored";
}
}  // namespace goldcrest::test
