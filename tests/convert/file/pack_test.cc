// SPDX-License-Identifier: Apache-2.0
// Compares layouts with FORMAT.md's formulas, and unpacks them.
#include "quantize/pack.h"

#include <gtest/gtest.h>

#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// FORMAT.md, section 5.
size_t byte_of(Layout layout, size_t n, size_t k, size_t columns) {
  switch (layout) {
    case Layout::kN16K4:
      return ((n / 16) * (columns / 4) + k / 4) * 64 + (n % 16) * 4 + k % 4;
    case Layout::kN4K16:
      return ((n / 4) * (columns / 16) + k / 16) * 64 + (n % 4) * 16 + k % 16;
    case Layout::kRowMajor:
      return n * columns + k;
  }
  return 0;
}

TEST(Pack, EveryElementIsWhereTheFormatSaysAndComesBack) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {16u, 32u, 80u}) {
      for (const uint32_t columns : {16u, 48u, 112u}) {
        std::vector<int8_t> weights(size_t{rows} * columns);
        uint32_t state = rows * 31 + columns;
        for (int8_t& weight : weights) {
          state = state * 1664525u + 1013904223u;
          weight = static_cast<int8_t>(state >> 24);
        }
        const std::vector<int8_t> packed = pack(weights, rows, columns, layout);
        ASSERT_EQ(packed.size(), weights.size());
        for (size_t n = 0; n < rows; ++n) {
          for (size_t k = 0; k < columns; ++k) {
            ASSERT_EQ(packed[byte_of(layout, n, k, columns)], weights[n * columns + k]) << n << ", " << k;
          }
        }
        EXPECT_EQ(unpack(packed, rows, columns, layout), weights);
      }
    }
  }
}

TEST(Pack, UnknownLayoutIsRefused) {
  const std::vector<int8_t> weights(256);
  EXPECT_THROW(pack(weights, 16, 16, static_cast<Layout>(3)), Error);
}

TEST(LayoutForCpu, KnownNames) {
  for (const char* name : {"generic", "x86", "cortex-a53", "cortex-a76", "cortex-m4", "cortex-m7", "cortex-m33"}) {
    EXPECT_EQ(layout_for_cpu(name), Layout::kN16K4) << name;
  }
  for (const char* name : {"cortex-m55", "cortex-m85"}) EXPECT_EQ(layout_for_cpu(name), Layout::kN4K16) << name;
}

TEST(LayoutForCpu, UnknownNamesGetTheList) {
  for (const char* name : {"", "cortex-a", "cortex-m5", "Cortex-M55", "cortex-m551"}) {
    try {
      layout_for_cpu(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("'" + std::string(name) + "'"), std::string::npos) << message;
      EXPECT_NE(message.find("cortex-m55 or cortex-m85"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
