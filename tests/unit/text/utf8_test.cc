// SPDX-License-Identifier: Apache-2.0
// Byte sequences that are characters: the borders of every range of the Unicode standard's table 3-7.
#include "text/utf8.h"
#include "support/test.h"

namespace goldcrest { namespace {
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

// Decodes the character that begins `text` and encodes it again. Returns its bytes; 0: there is none.
uint32_t recoded_bytes(const uint8_t (&text)[4], uint32_t n) {
  constexpr struct { uint8_t lead, mask; } kLeads[] = {{0x00, 0x80}, {0xC0, 0xE0}, {0xE0, 0xF0}, {0xF0, 0xF8}};
  for (uint32_t length = 1; length <= n; ++length) {
    const auto [lead, mask] = kLeads[length - 1];
    if ((text[0] & mask) != lead) continue;
    uint32_t point = text[0] & static_cast<uint8_t>(~mask);
    for (uint32_t i = 1; i < length; ++i) point = point << 6 | (text[i] & 0x3F);
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
    if (length != 1u + (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF)) return 0;
    for (uint32_t i = 1; i < length; ++i)
      if (text[i] != (0x80 | (point >> 6 * (length - 1 - i) & 0x3F))) return 0;
    return length;
  }
  return 0;
}

// Checks all texts of `n` bytes whose first byte is in [first, last].
void expect_exact(uint32_t n, uint32_t first, uint32_t last) {
  for (uint64_t bits = uint64_t{first} << 8 * (n - 1); bits < uint64_t{last + 1} << 8 * (n - 1); ++bits) {
    uint8_t text[4] = {};
    for (uint32_t i = 0; i < n; ++i) text[i] = static_cast<uint8_t>(bits >> 8 * (n - 1 - i));
    ASSERT_EQ(valid_char_bytes({text, n}), recoded_bytes(text, n)) << std::hex << bits;
  }
}

TEST(Exhaustive, EveryTextOfUpToThreeBytes) {
  for (uint32_t n = 1; n <= 3; ++n) expect_exact(n, 0, 0xFF);
}

// Runs in the full tests: takes a minute.
TEST(Exhaustive, DISABLED_EveryTextOfFourBytes) { expect_exact(4, 0, 0xFF); }
}}  // namespace goldcrest
