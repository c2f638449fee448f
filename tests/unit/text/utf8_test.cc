// SPDX-License-Identifier: Apache-2.0
// Which byte sequences are characters: the borders of every range of the Unicode standard's table 3-7.
#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace goldcrest {
namespace {

uint32_t valid_bytes(std::string_view text) {
  return valid_char_bytes({reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())});
}

TEST(ValidCharBytes, AcceptsTheFirstAndLastOfEachLength) {
  EXPECT_EQ(valid_bytes(std::string_view("\0", 1)), 1u);
  EXPECT_EQ(valid_bytes("\x7f"), 1u);
  EXPECT_EQ(valid_bytes("\xc2\x80"), 2u);
  EXPECT_EQ(valid_bytes("\xdf\xbf"), 2u);
  EXPECT_EQ(valid_bytes("\xe0\xa0\x80"), 3u);
  EXPECT_EQ(valid_bytes("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(valid_bytes("\xee\x80\x80"), 3u);
  EXPECT_EQ(valid_bytes("\xef\xbf\xbf"), 3u);
  EXPECT_EQ(valid_bytes("\xf0\x90\x80\x80"), 4u);
  EXPECT_EQ(valid_bytes("\xf4\x8f\xbf\xbf"), 4u);
  EXPECT_EQ(valid_bytes("ab"), 1u);
}

TEST(ValidCharBytes, RefusesWhatIsNoCharacter) {
  EXPECT_EQ(valid_bytes(""), 0u);
  EXPECT_EQ(valid_bytes("\x80"), 0u);
  EXPECT_EQ(valid_bytes("\xc1\xbf"), 0u);          // overlong
  EXPECT_EQ(valid_bytes("\xe0\x9f\xbf"), 0u);      // overlong
  EXPECT_EQ(valid_bytes("\xf0\x8f\xbf\xbf"), 0u);  // overlong
  EXPECT_EQ(valid_bytes("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(valid_bytes("\xf4\x90\x80\x80"), 0u);  // beyond U+10FFFF
  EXPECT_EQ(valid_bytes("\xf5\x80\x80\x80"), 0u);
  EXPECT_EQ(valid_bytes("\xff"), 0u);
  EXPECT_EQ(valid_bytes("\xc3"), 0u);  // cut
  EXPECT_EQ(valid_bytes("\xe2\x96"), 0u);
  EXPECT_EQ(valid_bytes("\xf0\x9f\x98"), 0u);
  EXPECT_EQ(valid_bytes("\xc3\x28"), 0u);  // second byte
  EXPECT_EQ(valid_bytes("\xe2\x96\x41"), 0u);
  EXPECT_EQ(valid_bytes("\xf0\x9f\x98\xc0"), 0u);
}

}  // namespace
}  // namespace goldcrest
