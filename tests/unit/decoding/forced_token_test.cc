// SPDX-License-Identifier: Apache-2.0
// The function that forces tokens: which tokens it forces, where, and at what cost.
#include "decoding/outputs/basic_stages.h"
#include "decoding/outputs/stages.h"
#include "decoding/search/hypotheses.h"
#include "goldcrest/decoding.h"
#include "support/test.h"

namespace goldcrest { namespace {
constexpr uint32_t kLongest = 6, kEnd = 2;
constexpr int32_t kFirst = 9, kMoreEnd = 7;

struct Case {
  Case() {
    generation.end_id = kEnd;
    generation.forced_first_id = kFirst;
    generation.more_end_ids = more_ends;
    generation.n_more_ends = 1;
    generation.n_prompt = 1;
    options.generation = &generation;
    options.model = &model;
    options.max_target_tokens = kLongest;
    options.max_extra_tokens = UINT32_MAX;
    options.max_length_factor = __builtin_huge_valf();
    options.force_end = GOLDCREST_YES;
    sentence.n_source = 3;
    sentence.state = &state;
    sentence.target_tokens = kLongest;
  }

  ForcedToken at(uint32_t position) const { return forced_token(options, sentence, position); }

  uint32_t more_ends[1] = {kMoreEnd};
  GenerationView generation = {};
  ModelView model = {};
  SearchOptions options = {};
  SentenceState state = {};
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
  search.generation.n_prompt = 0;
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

// A file's prompt: the best of the first choices, whose position needs the output layer, then forced ids.
TEST(ForcedToken, Prompt) {
  Case search;
  const uint32_t choices[] = {3, 4}, forced_ids[] = {5, 6};
  search.generation.forced_first_id = -1;
  search.generation.forced_ids = forced_ids;
  search.generation.n_prompt = 2;
  expect_free(search.at(0), 5, false);
  expect_free(search.at(1), 6, false);
  expect_none(search.at(2));
  search.generation.n_prompt = 3;
  for (const uint32_t n_choices : {1u, 2u}) {
    search.generation.first_choices = {choices, n_choices};
    const ForcedToken chosen = search.at(0);
    EXPECT_TRUE(chosen.is_first_choice() && chosen.needs_layers() && chosen.needs_output());
    EXPECT_FALSE(chosen.scored || chosen.ends);
    expect_free(search.at(1), 5, false);
    expect_free(search.at(2), 6, false);
    expect_none(search.at(3));
  }
}

// A caller's prefix takes the place of the first id or follows it. Only a length with the prefix in it ends with it.
TEST(ForcedToken, Prefix) {
  Case search;
  const int32_t prefix[] = {11, 12};
  search.sentence.prefix = prefix;
  for (const uint32_t n : {1u, 2u}) {
    for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
      search.state.prefix = {n, flags};
      const uint32_t n_before = (flags & GOLDCREST_PREFIX_BEHIND_PROMPT) != 0 ? 1 : 0, n_forced = n_before + n;
      if (n_before == 1) expect_free(search.at(0), kFirst, false);
      for (uint32_t i = 0; i < n; ++i) expect_free(search.at(n_before + i), prefix[i], false);
      for (const uint32_t most : {1u, 2u, 3u, 4u, kLongest}) {
        search.options.max_target_tokens = most;
        const bool counts = (flags & GOLDCREST_PREFIX_IN_LENGTHS) != 0;
        const uint32_t last = std::min(std::max(counts ? most : most + n, n_forced + 1), kLongest) - 1;
        for (uint32_t position = n_forced; position < last; ++position) expect_none(search.at(position));
        expect_free(search.at(last), kEnd, true);
      }
      search.options.max_target_tokens = kLongest;
    }
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

// A list of stages: their order, which stage ends a block, and when two passes are needed.

std::string log;  // the letters of the stages that ran
std::string_view running, summing, ending;

// A stage with the name kLetter, which behaves as the strings above say.
template <char kLetter> class Letter {
 public:
  explicit Letter(const OutputStep&) : runs_(running.find(kLetter) != std::string_view::npos) {}

  bool runs() const { return runs_; }
  bool needs_sum() const { return summing.find(kLetter) != std::string_view::npos; }
  bool run(const LogitBlock&) const {
    log += kLetter;
    return ending.find(kLetter) == std::string_view::npos;
  }
 private:
  const bool runs_;
};

// A stage that this build leaves out.
struct Absent {};

using Inner = StageList<Letter<'b'>, Letter<'c'>>;
using List = StageList<Letter<'a'>, Inner, StageIf<false, Absent>, Letter<'d'>>;

class StagesTest : public testing::Test {
 protected:
  StagesTest() { summing = ending = "", running = "abcd"; }

  List list() const { return List(step_); }
  // Returns the letters that ran, and whether the block was left for the next stage.
  std::string run() const {
    log.clear();
    if (list().run({nullptr, {0, 0}, {}, lists_, 0})) log += '+';
    return log;
  }

  Runtime runtime_ = {};
  DecoderRefs decoder_ = {};
  SearchOptions options_ = {};
  TargetRows rows_ = {};
  TargetBuffers targets_ = {};
  TopTokenBuffers top_tokens_ = {};
  ShortlistBuffers shortlist_ = {};
  TopTokens lists_ = {};
  OutputStep step_ = {
      runtime_, decoder_, options_, rows_, nullptr, targets_, nullptr, top_tokens_, shortlist_, nullptr};
};

TEST_F(StagesTest, ListsNoIdBehindTheFirstChoices) {
  const uint32_t ids[] = {2, 5, 7};
  GenerationView generation = {.first_choices = {ids, 2}};
  options_.generation = &generation;
  std::vector<float> logits(10);
  logits[5] = 1;
  logits[7] = 2;
  float value = 0;
  int32_t token = 0;
  uint32_t count = 0;
  lists_ = {nullptr, nullptr, nullptr, &value, &token, &count, 1, 1, 1};
  OutputSet outputs = {.n = 10};
  EXPECT_FALSE(ListFirstChoices(step_).run({logits.data(), {0, 10}, outputs, lists_, 0}));
  EXPECT_EQ(token, 5);
  EXPECT_EQ(count, 1u);
}

TEST_F(StagesTest, InOrder) {
  EXPECT_EQ(run(), "abcd+");
  running = "bd";
  EXPECT_EQ(run(), "bd+");
  running = "";
  EXPECT_EQ(run(), "+");
  EXPECT_FALSE(list().runs());
}

TEST_F(StagesTest, TheOneThatEndsABlockIsTheLast) {
  ending = "b";
  EXPECT_EQ(run(), "ab");
  running = "acd";
  EXPECT_EQ(run(), "acd+");
  ending = "d";
  EXPECT_EQ(run(), "acd");
}

TEST_F(StagesTest, SumsAreNeededByAnyStageThatRuns) {
  EXPECT_FALSE(list().needs_sum());
  summing = "c";
  EXPECT_TRUE(list().needs_sum());
  running = "abd";
  EXPECT_FALSE(list().needs_sum());
}
}}  // namespace goldcrest
