// SPDX-License-Identifier: Apache-2.0
// Compares BLEU with sacrebleu 2.6.0 (pip install sacrebleu). Tokens: BLEU().tokenizer(text.rstrip()); scores:
// BLEU().corpus_score(hypotheses, references) with None for lines that have fewer references than another.
#include "evaluate/metrics.h"
#include <nlohmann/json.hpp>
#include "evaluate/evaluate.h"
#include "support/test.h"

namespace goldcrest::converter { namespace {
struct Segment {
  std::string hypothesis;
  std::vector<std::string> references;
  double corpus_bleu, sentence_chrf, corpus_chrf;  // the corpus: this segment and those before it
};

const std::vector<Segment> kSegments = {
    {"The cat sat on the mat.", {"The cat sat on the mat.", "A cat was sitting on the mat."}, 100, 100, 100},
    {"C'est 1,5 fois plus — n'est-ce pas\u202f?", {"C'est 1.5 fois plus, n'est-ce pas\u00a0?"}, 61.7563790793,
        73.21242614346062, 82.9073849949},
    {"He said: \"Hi!\" (twice) &amp; left -- at 10-12, U.S. time...",
        {"He said \"Hi!\" twice & left at 10-12, U.S. time."}, 56.2772665127, 64.98033746585, 74.3309330146},
    {"日本語 テスト。 😀😀 e\u0301t\u00e9", {"日本語のテスト。 😀 été"}, 52.7960407273, 36.27020716801676, 70.3767721190},
    {"", {"nothing was said"}, 52.7960407273, 0, 63.7507032149},
    {"a b c", {"d e f", "x"}, 50.9949953426, 0, 63.0327178471},
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

// Compares chrF with sacrebleu 2.6.0: CHRF().sentence_score(hypothesis, references) and CHRF().corpus_score(...).

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

// Word error rate and exact match, compared with counts by hand.

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

TEST(ErrorRate, MayCountCharacters) {
  ErrorRateScorer scorer(true);
  scorer.add("sitting \u00e9", {"kitten \u00e9", "kitten e"});  // 3 edits of 8 characters
  EXPECT_DOUBLE_EQ(scorer.word_error_rate(), 300.0 / 8);
  scorer.add("ab", {"ab"});
  EXPECT_DOUBLE_EQ(scorer.word_error_rate(), 30);
  EXPECT_EQ(scorer.exact_match(), 50);
}

TEST(ErrorRate, MayExceedAHundredAndNeedsWords) {
  ErrorRateScorer scorer;
  EXPECT_EQ(scorer.word_error_rate(), 0);
  EXPECT_EQ(scorer.exact_match(), 0);
  scorer.add("a b c", {"d"});
  EXPECT_EQ(scorer.word_error_rate(), 300);
}

// The golden translations of the validation sets have the quality that sacrebleu 2.6.0 finds in them, with all
// references of a source (None if it has fewer than another source):
//   BLEU().corpus_score(texts, references), CHRF().corpus_score(texts, references)
// A text is ''.join(pieces).replace('\u2581', ' ').strip() for enfr and ' '.join(phonemes) for g2p. The error rates of
// g2p are those that its training script printed.

const std::filesystem::path kRoot = GOLDCREST_SOURCE_DIR;

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

std::string enfr_text(const std::map<int, std::string>& pieces, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) {
    if (id == 0) break;
    const std::string& piece = pieces.at(id);
    constexpr std::string_view kSpace = "\u2581";
    const bool starts_word = piece.starts_with(kSpace);
    if (starts_word) text += ' ';
    text += piece.substr(starts_word ? kSpace.size() : 0);
  }
  return text.substr(text.starts_with(' ') ? 1 : 0);
}

std::string g2p_text(const std::map<int, std::string>& phonemes, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) {
    if (id == 2) break;
    if (!text.empty()) text += ' ';
    text += phonemes.at(id);
  }
  return text;
}

using ToText = std::string (*)(const std::map<int, std::string>&, const std::vector<int>&);

// Returns the figures of the golden ids under `search`.
Quality golden_quality(
    const std::string& task, const std::string& search, const std::map<int, std::string>& vocabulary, ToText to_text) {
  std::map<std::string, std::vector<std::string>> references;
  for (const EvaluationLine& line : read_evaluation_lines(kRoot / "tests/data" / task / "valid.tsv", " | "))
    references[line.source] = line.references;
  BleuScorer bleu;
  ChrfScorer chrf;
  ErrorRateScorer errors;
  std::ifstream results(kRoot / "tests/golden" / task / "results.jsonl");
  for (std::string line; std::getline(results, line);) {
    const nlohmann::json result = nlohmann::json::parse(line);
    const std::string text = to_text(vocabulary, result.at(search).get<std::vector<int>>());
    const std::vector<std::string>& expected = references.at(result.at("text").get<std::string>());
    bleu.add(text, expected);
    chrf.add(text, expected);
    errors.add(text, expected);
  }
  return {bleu.score(), chrf.score(), errors.word_error_rate(), errors.exact_match()};
}

TEST(MetricsGolden, EnglishToFrench) {
  std::map<int, std::string> pieces;
  const nlohmann::json vocabulary = read_json(kRoot / "examples/models/enfr/vocab.json");
  for (const auto& [piece, id] : vocabulary.items()) pieces[id.get<int>()] = piece;
  const Quality greedy = golden_quality("enfr", "greedy", pieces, enfr_text);
  EXPECT_NEAR(greedy.bleu, 48.061470, 1e-6);
  EXPECT_NEAR(greedy.chrf, 64.023797, 1e-6);
  const Quality beam = golden_quality("enfr", "beam4", pieces, enfr_text);
  EXPECT_NEAR(beam.bleu, 49.381683, 1e-6);
  EXPECT_NEAR(beam.chrf, 65.101944, 1e-6);
}

TEST(MetricsGolden, SpellingToPronunciation) {
  std::map<int, std::string> phonemes;
  const nlohmann::json config = read_json(kRoot / "examples/models/g2p/config.json");
  for (const auto& phoneme : config.at("target_vocabulary"))
    phonemes.emplace(static_cast<int>(phonemes.size()), phoneme.get<std::string>());
  const Quality greedy = golden_quality("g2p", "greedy", phonemes, g2p_text);
  EXPECT_NEAR(greedy.bleu, 80.735810, 1e-6);
  EXPECT_NEAR(greedy.chrf, 83.255950, 1e-6);
  EXPECT_NEAR(100 - greedy.exact_match, 33.13, 0.005);
  EXPECT_NEAR(greedy.word_error_rate, 8.97, 0.005);
}
}}  // namespace goldcrest::converter
