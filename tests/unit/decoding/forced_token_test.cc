// SPDX-License-Identifier: Apache-2.0
// The function that forces tokens: which tokens it forces, where, and at what cost.
#include "decoding/forced_token.h"

#include <gtest/gtest.h>

#include <vector>

namespace goldcrest {
namespace {

constexpr uint32_t kLongest = 6, kEnd = 2;
constexpr int32_t kFirst = 9, kMoreEnd = 7;

struct Case {
  Case() {
    generation.end_id = kEnd;
    generation.forced_first_id = kFirst;
    generation.more_end_ids = more_ends;
    generation.n_more_ends = 1;
    options.generation = &generation;
    options.max_target_tokens = kLongest;
    options.max_extra_tokens = UINT32_MAX;
    options.max_length_factor = __builtin_huge_valf();
    options.force_end = GOLDCREST_YES;
    sentence.n_source = 3;
  }

  ForcedToken at(uint32_t position) const { return forced_token(options, sentence, position); }

  uint32_t more_ends[1] = {kMoreEnd};
  GenerationView generation = {};
  SearchOptions options = {};
  SentenceView sentence = {};
};

void expect_free(const ForcedToken& forced, int32_t token, bool ends) {
  EXPECT_TRUE(forced.exists);
  EXPECT_EQ(forced.token, token);
  EXPECT_EQ(forced.ends, ends);
  EXPECT_FALSE(forced.scored);
  EXPECT_FALSE(forced.needs_output());
  EXPECT_EQ(forced.needs_layers(), !ends) << "later positions need this position's keys";
}

void expect_none(const ForcedToken& forced) {
  EXPECT_FALSE(forced.exists);
  EXPECT_TRUE(forced.needs_layers());
  EXPECT_TRUE(forced.needs_output());
}

TEST(ForcedToken, FirstAndEnd) {
  const Case search;
  expect_free(search.at(0), kFirst, false);
  for (uint32_t position = 1; position + 1 < kLongest; ++position) expect_none(search.at(position));
  expect_free(search.at(kLongest - 1), kEnd, true);
}

TEST(ForcedToken, NoFirstWhereTheFileHasNone) {
  Case search;
  search.generation.forced_first_id = -1;
  expect_none(search.at(0));
}

// The greatest length can depend on the source's length.
TEST(ForcedToken, EndAtTheLongestLengthOfTheSource) {
  Case search;
  search.options.max_extra_tokens = 1;
  expect_none(search.at(2));
  expect_free(search.at(3), kEnd, true);
}

TEST(ForcedToken, EndBeforeFirst) {
  Case search;
  search.options.max_target_tokens = 1;
  expect_free(search.at(0), kEnd, true);
}

TEST(ForcedToken, NoEndWhereItIsNotForced) {
  Case search;
  search.options.force_end = GOLDCREST_NO;
  expect_none(search.at(kLongest - 1));
  search.options.max_target_tokens = 1;
  expect_free(search.at(0), kFirst, true);
}

TEST(ForcedToken, FirstMayEndTheText) {
  Case search;
  for (const int32_t token : {static_cast<int32_t>(kEnd), kMoreEnd}) {
    search.generation.forced_first_id = token;
    expect_free(search.at(0), token, true);
  }
}

// Scoring a target forces only its tokens; an end token within the target does not end it.
TEST(ForcedToken, ATargetsTokensAreScored) {
  Case search;
  const std::vector<int32_t> target = {5, kEnd, kFirst, 4};
  search.options.follows_targets = true;
  search.options.max_target_tokens = 2;
  search.sentence.target = target.data();
  search.sentence.n_target = static_cast<uint32_t>(target.size());
  for (uint32_t position = 0; position < target.size(); ++position) {
    const ForcedToken forced = search.at(position);
    EXPECT_TRUE(forced.exists && forced.scored && forced.needs_layers() && forced.needs_output());
    EXPECT_EQ(forced.token, target[position]);
    EXPECT_EQ(forced.ends, position + 1 == target.size());
  }
}

}  // namespace
}  // namespace goldcrest
