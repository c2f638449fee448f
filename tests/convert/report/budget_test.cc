// SPDX-License-Identifier: Apache-2.0
#include "report/budget.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

TEST(Budget, NumbersAndSuffixes) {
  const Budget both = parse_budget("arena=48K,file=2M");
  EXPECT_EQ(both.arena_bytes, 48u << 10);
  EXPECT_EQ(both.file_bytes, 2u << 20);
  EXPECT_EQ(parse_budget("file=1,arena=0").arena_bytes, 0u);
  const Budget one = parse_budget("file=18446744073709551615");
  EXPECT_EQ(one.file_bytes, UINT64_MAX);
  EXPECT_FALSE(one.arena_bytes);
}

TEST(Budget, AnythingElseIsRefused) {
  for (const char* text : {"", ",", "arena", "arena=1,", ",arena=1", "arena=1,,file=1", "arena=1,arena=1", "stack=1",
                           "arena =1", "arena=1;file=2"}) {
    test::expect_error([&] { parse_budget(text); }, {std::string("'") + text + "'", "expected"}, text);
  }
  for (const char* size :
       {"", "-1", "+1", "1.5M", "1k", "1KB", "K", " 1", "0x10", "18446744073709551616", "17592186044416M"}) {
    test::expect_error([&] { parse_budget(std::string("file=") + size); }, {"is not a size"}, size);
  }
}

TEST(Budget, EachNumberThatIsExceeded) {
  const Budget budget = parse_budget("arena=100,file=200");
  EXPECT_EQ(over_budget(budget, 100, 200), "");
  EXPECT_EQ(over_budget(budget, 101, 200), "the arena needs 101 bytes, 1 more than --budget arena=100\n");
  EXPECT_EQ(over_budget(budget, 164, 264),
            "the arena needs 164 bytes, 64 more than --budget arena=100\n"
            "the file needs 264 bytes, 64 more than --budget file=200\n");
  EXPECT_EQ(over_budget({}, UINT64_MAX, UINT64_MAX), "");
}

}  // namespace
}  // namespace goldcrest::converter
