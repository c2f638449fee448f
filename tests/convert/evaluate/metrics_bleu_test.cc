// SPDX-License-Identifier: Apache-2.0
// Compares BLEU with sacrebleu 2.6.0 (pip install sacrebleu). Tokens: BLEU().tokenizer(text.rstrip()); scores:
// BLEU().corpus_score(hypotheses, references) with None for lines that have fewer references than another.
#include "evaluate/metrics_bleu.h"

#include <gtest/gtest.h>

#include "evaluate/metrics_text.h"

namespace goldcrest::converter {
namespace {

struct Segment {
  std::string hypothesis;
  std::vector<std::string> references;
  double corpus_bleu;  // of this segment and those before it
};

const std::vector<Segment> kSegments = {
    {"The cat sat on the mat.", {"The cat sat on the mat.", "A cat was sitting on the mat."}, 100},
    {"C'est 1,5 fois plus — n'est-ce pas\u202f?", {"C'est 1.5 fois plus, n'est-ce pas\u00a0?"}, 61.7563790793},
    {"He said: \"Hi!\" (twice) &amp; left -- at 10-12, U.S. time...",
     {"He said \"Hi!\" twice & left at 10-12, U.S. time."},
     56.2772665127},
    {"日本語 テスト。 😀😀 e\u0301t\u00e9", {"日本語のテスト。 😀 été"}, 52.7960407273},
    {"", {"nothing was said"}, 52.7960407273},
    {"a b c", {"d e f", "x"}, 50.9949953426},
};

TEST(Bleu, EqualsSacrebleuOnAGrowingCorpus) {
  BleuScorer scorer;
  for (const Segment& segment : kSegments) {
    scorer.add(segment.hypothesis, segment.references);
    EXPECT_NEAR(scorer.score(), segment.corpus_bleu, 1e-9) << segment.hypothesis;
  }
}

double bleu_of(const std::string& hypothesis, const std::string& reference) {
  BleuScorer scorer;
  scorer.add(hypothesis, {reference});
  return scorer.score();
}

TEST(Bleu, ShortAndUnmatchedSegments) {
  EXPECT_EQ(BleuScorer().score(), 0);
  EXPECT_EQ(bleu_of("a b c", "a b c"), 0);  // there is no 4-gram
  EXPECT_EQ(bleu_of("a b c d", "e f g h"), 0);
  EXPECT_EQ(bleu_of("", ""), 0);
  EXPECT_NEAR(bleu_of("a b x y z", "a b c d e"), 21.3643503198, 1e-9);      // orders without a match are smoothed
  EXPECT_NEAR(bleu_of("the the the the", "the cat"), 15.9735776062, 1e-9);  // counts are clipped
}

TEST(Bleu, Tokenizer13a) {
  const std::vector<std::pair<std::u32string, std::u32string>> cases = {
      {U"-\nx <skipped>y", U"x y"},
      {U"1.2,3. 4,5 .6 7. ,8", U"1.2,3 . 4,5 . 6 7 . , 8"},
      {U"3-4 a-b 5--6", U"3 - 4 a-b 5 - -6"},
      {U"a.b,c..d ...", U"a . b , c . . d . . ."},
      {U"&lt;b&gt; &amp;lt; &quot;q&quot;", U"< b > < \" q \""},
      {U"\x1c"
       U"foo\u3000bar\u2028baz\u200bq",
       U"foo bar baz\u200bq"},
      {U"don't {x}|[y]~`z`^_", U"don't { x } | [ y ] ~ ` z ` ^ _"},
      {U"\uff11.\uff12 \u0663.\u0664", U"\uff11 . \uff12 \u0663 . \u0664"},  // only ASCII digits keep a period
      {U"", U""},
  };
  for (const auto& [text, tokens] : cases) EXPECT_EQ(tokenize_13a(text), tokens);
}

TEST(Bleu, BytesThatAreNoUtf8AreOneReplacementCharacterEach) {
  EXPECT_EQ(decode_utf8("a\xff\xc3(\xe2\x82"), U"a\ufffd\ufffd(\ufffd\ufffd");
  EXPECT_EQ(decode_utf8("\xc0\x80"), U"\ufffd\ufffd");                      // overlong
  EXPECT_EQ(decode_utf8("\xed\xa0\x80"), U"\ufffd\ufffd\ufffd");            // surrogate
  EXPECT_EQ(decode_utf8("\xf4\x90\x80\x80"), U"\ufffd\ufffd\ufffd\ufffd");  // beyond U+10FFFF
  EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80\xc3\xa9"), U"\U0001f600\u00e9");
}

}  // namespace
}  // namespace goldcrest::converter
