// SPDX-License-Identifier: Apache-2.0
#include "spec/printable.h"

#include <gtest/gtest.h>

namespace goldcrest::converter {
namespace {

TEST(Printable, TextStaysAndControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("by Élodie, 東京 \U0001F426"), "by Élodie, 東京 \U0001F426");
  EXPECT_EQ(printable("a\x1b[31mb\r\n\tc\x7f"), "a\\x1b[31mb\\x0d\\x0a\\x09c\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\u0080\u009b\u00a0"), "\\xc2\\x80\\xc2\\x9b\u00a0");  // C1 controls, which some terminals obey
  EXPECT_EQ(printable("a\u202eb\u2028c\u2066"),
            "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8c\\xe2\\x81\\xa6");  // these turn the direction of text
  EXPECT_EQ(printable_lines("one\x1b\ntwo\r\n"), "one\\x1b\ntwo\\x0d\n");
  EXPECT_TRUE(is_printable("Élodie"));
  EXPECT_FALSE(is_printable("a\nb"));
}

TEST(Printable, BytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3");           // cut
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");  // longer than needed
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xe2\x82"
                      "e"),
            "\\xe2\\x82"
            "e");
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbd"), "\xf4\x8f\xbf\xbd");
}

TEST(Printable, MetadataIsCleanedAndCut) {
  EXPECT_EQ(clean_metadata("by Élodie"), "by Élodie");
  EXPECT_EQ(clean_metadata("a\x1b[1m\nb\xff"), "a\uFFFD[1m\uFFFDb\uFFFD");
  EXPECT_EQ(clean_metadata(std::string(2000, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(clean_metadata(std::string(1023, 'x') + "é"), std::string(1023, 'x'));
}

}  // namespace
}  // namespace goldcrest::converter
