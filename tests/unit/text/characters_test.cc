// SPDX-License-Identifier: Apache-2.0
// Letters of two cases and marks, at the borders of every range.
#include "text/characters.h"
#include "support/test.h"

namespace goldcrest { namespace {
Character character(std::string_view text) { return read_character(text.data(), text.size()); }

TEST(Characters, AreReadOneByOne) {
  EXPECT_EQ(character("").n(), 0u);
  EXPECT_EQ(character("ab").code(), uint32_t{'a'});
  EXPECT_EQ(character(std::string_view("\0", 1)).n(), 1u);
  EXPECT_EQ(character("\u00E9x").code(), 0xE9u);
  EXPECT_EQ(character("\u3002").n(), 3u);
  EXPECT_EQ(character("\xF4\x8F\xBF\xBF").code(), 0x10FFFFu);
  EXPECT_EQ(character("\xE2\x80").code(), 0xFFFDu);
  EXPECT_EQ(character("\xE2\x80").n(), 1u);
}

// Pairs of a capital and its small letter.
constexpr uint32_t kPairs[][2] = {{'A', 'a'}, {'Z', 'z'}, {0xC0, 0xE0}, {0xDE, 0xFE}, {0x100, 0x101}, {0x136, 0x137},
    {0x139, 0x13A}, {0x147, 0x148}, {0x14A, 0x14B}, {0x176, 0x177}, {0x179, 0x17A}, {0x17D, 0x17E}, {0x218, 0x219},
    {0x21E, 0x21F}, {0x391, 0x3B1}, {0x3AB, 0x3CB}, {0x400, 0x450}, {0x40F, 0x45F}, {0x410, 0x430}, {0x42F, 0x44F},
    {0x460, 0x461}, {0x480, 0x481}, {0x48A, 0x48B}, {0x4BE, 0x4BF}, {0x4D0, 0x4D1}, {0x52E, 0x52F}, {0x531, 0x561},
    {0x556, 0x586}, {0x1E00, 0x1E01}, {0x1E94, 0x1E95}, {0x1EA0, 0x1EA1}, {0x1EFE, 0x1EFF}};

TEST(Characters, HaveTheirCase) {
  for (const auto& [capital, small] : kPairs) {
    EXPECT_EQ(letter_case(capital), Case::kUpper) << std::hex << capital;
    EXPECT_EQ(letter_case(small), Case::kLower) << std::hex << small;
    EXPECT_EQ(small_letter(small), small);
  }
  for (const uint32_t code : {0xDFu, 0xFFu, 0x3ACu, 0x3CEu, 0x587u}) EXPECT_EQ(letter_case(code), Case::kLower);
  for (const uint32_t code :
      {0x0u, 0x40u, 0x5Bu, 0x60u, 0x7Bu, 0xBFu, 0x138u, 0x149u, 0x178u, 0x390u, 0x482u, 0x4C0u, 0x530u, 0x557u, 0x560u,
          0x588u, 0x5D0u, 0x627u, 0x905u, 0x1E96u, 0x1E9Fu, 0x3042u, 0x4E00u, 0xAC00u, 0x10FFFFu})
    EXPECT_EQ(letter_case(code), Case::kNone) << std::hex << code;
  for (const size_t i : {0, 1, 2, 3, 14, 15, 16, 17, 18, 19})
    EXPECT_EQ(small_letter(kPairs[i][0]), kPairs[i][1]) << std::hex << kPairs[i][0];
}

TEST(Characters, HaveTheirClasses) {
  for (const char* space : {" ", "\t", "\v", "\f", "\u00A0", "\u2000", "\u200A", "\u202F", "\u3000"})
    EXPECT_TRUE(character(space).is(kSpace)) << space;
  for (const char* line_end : {"\n", "\r", "\u2028", "\u2029"}) EXPECT_TRUE(character(line_end).is(kLineEnd));
  for (const char* mark : {".", "!", "?", "\u2026", "\u3002", "\uFF01", "\u061F", "\u0964", "\u0589"})
    EXPECT_TRUE(character(mark).is(kEndMark)) << mark;
  for (const char* wide : {"\u3002", "\uFF01", "\uFF1F", "\uFF0C"}) EXPECT_TRUE(character(wide).is(kWide)) << wide;
  for (const char* clause : {",", ";", ":", "\u2014", "\u3001", "\u060C"}) EXPECT_TRUE(character(clause).is(kClause));
  for (const char* both : {"\"", "'", "\u00AB", "\u00BB", "\u201C", "\u2019"})
    EXPECT_TRUE(character(both).is(kOpener) && character(both).is(kCloser)) << both;
  EXPECT_FALSE(character("(").is(kCloser));
  EXPECT_FALSE(character(")").is(kOpener));
  for (const char* none : {"a", "\u00E9", "7", "\u4E00", "\xFF", "\u200B"})
    EXPECT_FALSE(character(none).is(0xFF)) << none;
}
}}  // namespace goldcrest
