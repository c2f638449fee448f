// SPDX-License-Identifier: Apache-2.0
// Text from patterns, and patterns that do not compile.
#include "spec/format_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace goldcrest::converter {
namespace {

using Kind = FormatValue::Kind;

// Returns whether a pattern with values of these kinds compiles.
template <Kind... kKinds>
consteval bool compiles(const char* pattern) {
  const Kind kinds[] = {kKinds..., Kind::kText};
  return fits_values(pattern, kinds, sizeof...(kKinds));
}

static_assert(compiles<>("none {{}}"));
static_assert(compiles<Kind::kText>("{}"));
static_assert(compiles<Kind::kText, Kind::kUnsigned>("{0} {1:>7} {0}"));
static_assert(compiles<Kind::kText, Kind::kSigned>("{:>{}}"));
static_assert(!compiles<>("{}"), "a value too few");
static_assert(!compiles<Kind::kText, Kind::kText>("{}"), "a value too many");
static_assert(!compiles<Kind::kText>("{"), "a brace that is left open");
static_assert(!compiles<>("}"), "a brace that closes nothing");
static_assert(!compiles<Kind::kUnsigned>("{:.2f}"), "an integer as a decimal fraction");
static_assert(!compiles<Kind::kDouble>("{:x}"), "a fraction in hexadecimal");
static_assert(!compiles<Kind::kUnsigned>("{:s}"), "an integer as a text");

TEST(FormatText, WritesEveryKind) {
  EXPECT_EQ(format_text("{} {} {} {}", true, 'c', int8_t{-5}, UINT64_MAX), "true c -5 18446744073709551615");
  EXPECT_EQ(format_text("{} {} {}", "text", std::string("string"), std::string_view("view")), "text string view");
  EXPECT_EQ(format_text("{} {} {:.2f}", 0.1f, 0.1, 2.0 / 3), "0.1 0.1 0.67");  // 0.1f has a float's digits
  EXPECT_EQ(format_text("{:016x} {:#x} {:>5}|{:<4}|{:02}", uint64_t{255}, 16u, 7, "ab", 3),
            "00000000000000ff 0x10     7|ab  |03");
  EXPECT_EQ(format_text("{1} {0} {1}", "a", 2), "2 a 2");
  EXPECT_EQ(format_text("{:>{}}", "a", 3), "  a");
  EXPECT_EQ(format_text("{{}} 100 %"), "{} 100 %");
}

TEST(JoinText, PutsASeparatorBetween) {
  EXPECT_EQ(join_text(std::vector<int>{}, ", "), "");
  EXPECT_EQ(join_text(std::vector<int>{1, -2, 3}, ", "), "1, -2, 3");
  EXPECT_EQ(join_text(std::vector<std::string>{"a", "", "b"}, "|"), "a||b");
}

}  // namespace
}  // namespace goldcrest::converter
