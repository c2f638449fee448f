// SPDX-License-Identifier: Apache-2.0
// Word error rate and exact match, compared with counts by hand.
#include "evaluate/metrics_error_rate.h"

#include <gtest/gtest.h>

namespace goldcrest::converter {
namespace {

size_t distance(std::vector<int32_t> a, std::vector<int32_t> b) { return edit_distance<int32_t>(a, b); }

TEST(ErrorRate, EditDistance) {
  EXPECT_EQ(distance({}, {}), 0u);
  EXPECT_EQ(distance({}, {1, 2}), 2u);
  EXPECT_EQ(distance({1, 2, 3}, {}), 3u);
  EXPECT_EQ(distance({1, 2, 3}, {1, 3}), 1u);
  EXPECT_EQ(distance({1, 2, 3, 4}, {2, 3, 4, 5}), 2u);
  EXPECT_EQ(distance({1, 2, 3}, {4, 5, 6}), 3u);
}

TEST(ErrorRate, NearestReferenceAndAmongEqualsTheShortest) {
  ErrorRateScorer scorer;
  scorer.add("K AE1 T", {"K AE1 T S", "K AE0 T"});  // one edit for either reference: 3 words, not 4
  EXPECT_DOUBLE_EQ(scorer.word_error_rate(), 100.0 / 3);
  EXPECT_EQ(scorer.exact_match(), 0);
  scorer.add(" D  AO1 G ", {"X", "D AO1 G"});  // white space does not count
  EXPECT_DOUBLE_EQ(scorer.word_error_rate(), 100.0 / 6);
  EXPECT_EQ(scorer.exact_match(), 50);
}

TEST(ErrorRate, MayExceedAHundredAndNeedsWords) {
  ErrorRateScorer scorer;
  EXPECT_EQ(scorer.word_error_rate(), 0);
  EXPECT_EQ(scorer.exact_match(), 0);
  scorer.add("a b c", {"d"});
  EXPECT_EQ(scorer.word_error_rate(), 300);
}

}  // namespace
}  // namespace goldcrest::converter
