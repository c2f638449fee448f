// SPDX-License-Identifier: Apache-2.0
// Compares chrF with sacrebleu 2.6.0: CHRF().sentence_score(hypothesis, references) and CHRF().corpus_score(...).
#include "evaluate/metrics_chrf.h"

#include <gtest/gtest.h>

namespace goldcrest::converter {
namespace {

struct Segment {
  std::string hypothesis;
  std::vector<std::string> references;
  double sentence_chrf, corpus_chrf;  // the corpus: this segment and those before it
};

const std::vector<Segment> kSegments = {
    {"The cat sat on the mat.", {"The cat sat on the mat.", "A cat was sitting on the mat."}, 100, 100},
    {"C'est 1,5 fois plus — n'est-ce pas\u202f?",
     {"C'est 1.5 fois plus, n'est-ce pas\u00a0?"},
     73.21242614346062,
     82.9073849949},
    {"He said: \"Hi!\" (twice) &amp; left -- at 10-12, U.S. time...",
     {"He said \"Hi!\" twice & left at 10-12, U.S. time."},
     64.98033746585,
     74.3309330146},
    {"日本語 テスト。 😀😀 e\u0301t\u00e9", {"日本語のテスト。 😀 été"}, 36.27020716801676, 70.3767721190},
    {"", {"nothing was said"}, 0, 63.7507032149},
    {"a b c", {"d e f", "x"}, 0, 63.0327178471},
};

TEST(Chrf, EqualsSacrebleu) {
  ChrfScorer scorer;
  for (const Segment& segment : kSegments) {
    EXPECT_NEAR(sentence_chrf(segment.hypothesis, segment.references), segment.sentence_chrf, 1e-9);
    scorer.add(segment.hypothesis, segment.references);
    EXPECT_NEAR(scorer.score(), segment.corpus_chrf, 1e-9) << segment.hypothesis;
  }
}

TEST(Chrf, WhiteSpaceDoesNotCountAndTheBestReferenceDoes) {
  EXPECT_DOUBLE_EQ(sentence_chrf("a b\u00a0c", {"nothing", "abc"}), 100);
  EXPECT_EQ(sentence_chrf("", {""}), 0);
  EXPECT_EQ(ChrfScorer().score(), 0);
}

}  // namespace
}  // namespace goldcrest::converter
