// SPDX-License-Identifier: Apache-2.0
// A list of stages: their order, which stage ends a block, and when two passes are needed.
#include "decoding/stages.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace goldcrest {
namespace {

std::string log;  // the letters of the stages that ran
std::string_view running, summing, ending;

// A stage with the name kLetter, which behaves as the strings above say.
template <char kLetter>
class Letter {
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

 private:
  Runtime runtime_ = {};
  DecoderRefs decoder_ = {};
  SearchOptions options_ = {};
  TargetRows rows_ = {};
  TargetBuffers targets_ = {};
  TopTokenBuffers top_tokens_ = {};
  ShortlistBuffers shortlist_ = {};
  TopTokens lists_ = {};
  OutputStep step_ = {runtime_, decoder_, options_, rows_, nullptr, targets_, nullptr, top_tokens_, shortlist_};
};

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

}  // namespace
}  // namespace goldcrest
