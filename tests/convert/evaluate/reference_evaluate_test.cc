// SPDX-License-Identifier: Apache-2.0
// --evaluate with translators whose answers are known, and the reading of its file.
#include <random>
#include "convert/support/sample_folder.h"
#include "evaluate/evaluate.h"
#include "evaluate/make_shortlist.h"
#include "evaluate/metrics.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
class KnownTranslator : public Translator {
 public:
  explicit KnownTranslator(std::map<std::string, Translation> answers) : answers_(std::move(answers)) {}
  std::vector<Translation> translate(std::span<const std::string> sources) override {
    batches.push_back(sources.size());
    std::vector<Translation> out;
    for (const std::string& source : sources) out.push_back(answers_.at(source));
    return out;
  }
  std::vector<size_t> batches;
 private:
  std::map<std::string, Translation> answers_;
};

const std::vector<EvaluationLine> kLines = {
    {"one", {"the first line of all", "line one"}, 1},
    {"two", {"the second line of all"}, 3},
    {"three", {}, 4},
    {"four", {"the fourth line of all"}, 5},
};

TEST(Evaluate, CountsComparesAndRanks) {
  KnownTranslator float32(
      {{"one", {{1, 2, 3, 0}, "the first line of all", ""}}, {"two", {{4, 5, 0}, "the second line of all", ""}},
          {"three", {{6, 0}, "anything", ""}}, {"four", {{7, 0}, "the fourth line of all", ""}}});
  KnownTranslator int8(
      {{"one", {{1, 2, 3, 0}, "the first line of all", ""}}, {"two", {{4, 9, 5, 0}, "the second line of al", ""}},
          {"three", {{8, 0}, "something else", ""}}, {"four", {{}, "", "too long"}}});
  std::vector<std::pair<size_t, size_t>> progress;
  const EvaluationOptions options = {
      .batch = 3, .progress = [&](size_t done, size_t total) { progress.emplace_back(done, total); }};
  const Evaluation evaluation = evaluate(kLines, float32, int8, options);

  EXPECT_EQ(float32.batches, (std::vector<size_t>{3, 1}));
  EXPECT_EQ(progress, (std::vector<std::pair<size_t, size_t>>{{3, 4}, {4, 4}}));
  ASSERT_EQ(evaluation.lines.size(), 3u);
  ASSERT_EQ(evaluation.failed.size(), 1u);
  EXPECT_EQ(evaluation.failed[0].line, 3u);
  EXPECT_EQ(evaluation.identical, 1u);
  EXPECT_DOUBLE_EQ(evaluation.token_agreement, 1 - 2.0 / 10);  // one insertion, one substitution; 4 + 4 + 2 tokens
  ChrfScorer chrf;
  for (const EvaluatedLine& line : evaluation.lines) chrf.add(line.int8.text, {line.float32.text});
  EXPECT_EQ(evaluation.chrf, chrf.score());
  EXPECT_TRUE(evaluation.chrf > 0 && evaluation.chrf < 100) << evaluation.chrf;
  EXPECT_EQ(evaluation.lines_with_references, 2u);
  ASSERT_TRUE(evaluation.float32 && evaluation.int8);
  EXPECT_NEAR(evaluation.float32->bleu, 100, 1e-9);
  EXPECT_LT(evaluation.int8->bleu, 100);
  EXPECT_EQ(evaluation.float32->exact_match, 100);
  EXPECT_EQ(evaluation.int8->exact_match, 50);
  EXPECT_DOUBLE_EQ(evaluation.int8->word_error_rate, 10);
  EXPECT_EQ(evaluation.most_lost, (std::vector<size_t>{2, 1}));
  EXPECT_GT(evaluation.lines[2].loss, evaluation.lines[1].loss);

  const std::string text = to_text(evaluation, kLines, 1);
  EXPECT_TRUE(test::has(text, "3 lines: 1 identical (33.33 %), token agreement 80.00 %"));
  EXPECT_TRUE(test::has(text, "\nidentical lines: 6.15 to 79.23 % (95 % interval); chrF "));
  EXPECT_FALSE(test::has(text, "earlier line"));
  EXPECT_TRUE(test::has(text, "line 5 left out: too long"));
  EXPECT_TRUE(test::has(text, "line 4: lost"));
  EXPECT_FALSE(test::has(text, "line 3: lost"));
}

// Figures of Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
TEST(Evaluate, IntervalOfAShare) {
  const auto expect = [](size_t found, size_t n, double low, double high) {
    const ShareInterval interval = share_interval(found, n);
    EXPECT_NEAR(interval.low, low, 5e-5) << found << " of " << n;
    EXPECT_NEAR(interval.high, high, 5e-5) << found << " of " << n;
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
  expect(28, 29, 1 - 0.1718, 1 - 0.0061);
  expect(0, 0, 0, 1);
}

TEST(Evaluate, SaysThatLinesWithTheSameSourceAreMerged) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("lines.tsv", "three\tanything\nfour\tx\nthree\ty\n\nthree\n").string();
  const std::vector<EvaluationLine> lines = read_evaluation_lines(file, "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].n_lines, 3u);
  EXPECT_EQ(lines[0].references, (std::vector<std::string>{"anything", "y"}));
  EXPECT_EQ(n_merged(lines), 2u);
  KnownTranslator same({{"three", {{6, 0}, "anything", ""}}, {"four", {{7, 0}, "x", ""}}});
  const std::string text = to_text(evaluate(lines, same, same, {}), lines, 1);
  EXPECT_TRUE(test::has(text, "\n2 more lines have an earlier line's source: they count once, with all references\n"));
}

TEST(Evaluate, WithoutReferencesThereIsNoQuality) {
  KnownTranslator same({{"three", {{6, 0}, "anything", ""}}});
  const Evaluation evaluation = evaluate({kLines[2]}, same, same, {});
  EXPECT_FALSE(evaluation.float32 || evaluation.int8);
  EXPECT_EQ(evaluation.token_agreement, 1);
  EXPECT_TRUE(evaluation.most_lost.empty());
}

TEST(Evaluate, ReferenceTranslatorPassesErrorsOnByLine) {
  const ModelSpec spec = test::random_spec(4);
  const Reference reference(spec);
  const auto encode = [](const std::string& text) -> std::vector<int32_t> {
    if (text == "bad") throw Error("no ids for it");
    return {static_cast<int32_t>(text.size()), 0};
  };
  const auto decode = [](std::span<const int32_t> tokens) { return std::to_string(tokens.size()); };
  SearchOptions options = default_search(spec);
  ReferenceTranslator translator(reference, options, encode, decode);
  const std::vector<Translation> found = translator.translate(std::vector<std::string>{"abc", "bad"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tokens, search(reference, std::vector<int32_t>{3, 0}, options)[0].tokens);
  EXPECT_EQ(found[0].text, std::to_string(found[0].tokens.size()));
  EXPECT_EQ(found[0].error, "");
  EXPECT_EQ(found[1].error, "no ids for it");
}

TEST(Evaluate, FileGathersReferencesBySource) {
  const test::SampleFolder folder;
  folder.write("lines.tsv", "a\tx | y\tz\r\n\nb\nc d\tw\na\tv\n");
  const std::vector<EvaluationLine> lines = read_evaluation_lines(folder.path() / "lines.tsv", " | ");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].source, "a");
  EXPECT_EQ(lines[0].references, (std::vector<std::string>{"x", "y", "z", "v"}));
  EXPECT_EQ(lines[0].number, 1u);
  EXPECT_EQ(lines[1].source, "b");
  EXPECT_TRUE(lines[1].references.empty());
  EXPECT_EQ(lines[2].source, "c d");
  EXPECT_EQ(lines[2].number, 4u);
  EXPECT_EQ(read_evaluation_lines(folder.path() / "lines.tsv", "")[0].references[0], "x | y");

  folder.write("lines.tsv", "a\tx\n\tno source\n");
  EXPECT_THROW(read_evaluation_lines(folder.path() / "lines.tsv", ""), Error);
  folder.write("lines.tsv", "\n");
  EXPECT_THROW(read_evaluation_lines(folder.path() / "lines.tsv", ""), Error);
  EXPECT_THROW(read_evaluation_lines(folder.path() / "absent.tsv", ""), Error);
  // UTF-16 of both orders, with and without its mark; Latin-1; NUL.
  using namespace std::string_literals;
  const std::pair<std::string, std::string> others[] = {
      {"\xff\xfe"
       "a\0\t\0b\0\n\0"s,
          ":1: no UTF-8 at byte 1; expected UTF-8. If it is UTF-16: iconv -f UTF-16 "},
      {"\xfe\xff\0a\0\t\0b\0\n"s, ":1: no UTF-8 at byte 1; expected UTF-8. If it is UTF-16: "},
      {"a\0\t\0b\0\n\0"s, ":1: a NUL byte at byte 2; expected UTF-8. If it is UTF-16: "},
      {"a\tb\nna\xefve\tx\n",
          ":2: no UTF-8 at byte 3; expected UTF-8. If it is Latin-1: iconv -f ISO-8859-1 -t UTF-8 "},
      {"a\tcaf\xe9\n", ":1: no UTF-8 at byte 6; expected UTF-8. If it is Latin-1: "}};
  for (const auto& [content, words] : others) {
    folder.write("lines.tsv", content);
    const std::string path = (folder.path() / "lines.tsv").string();
    test::expect_error([&] { read_evaluation_lines(path, ""); }, {path + words});
  }
}

// Compares IBM model 1 with its formula and with results by hand, and tests the measurements of a shortlist.

using Ids = std::vector<uint32_t>;

ShortlistOptions options_of(uint32_t always, uint32_t best, uint32_t source_ids) {
  ShortlistOptions options = {.always = always, .best = best, .source_ids = source_ids};
  return options;
}

Ids list_of(const ShortlistSpec& shortlist, size_t id) {
  return {shortlist.ids.begin() + static_cast<ptrdiff_t>(shortlist.offset[id]),
      shortlist.ids.begin() + static_cast<ptrdiff_t>(shortlist.offset[id + 1])};
}

// Brown et al.'s example of co-occurrence: 1 the, 2 house, 3 book; 11 das, 12 Haus, 13 Buch; 0 ends.
const std::vector<IdPair> kPairs = {{{1, 2, 0}, {11, 12, 0}}, {{1, 3, 0}, {11, 13, 0}}, {{3, 0}, {13, 0}}};

TEST(MakeShortlist, EachSourceIdHasItsMostProbableTranslations) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(0, 1, 4));
  EXPECT_TRUE(shortlist.always.empty());
  EXPECT_EQ(shortlist.offset, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(shortlist.ids, (Ids{0, 11, 12, 13}));
  EXPECT_TRUE(shortlist.ngrams.empty());
}

TEST(MakeShortlist, TheMostFrequentIdsAreAlwaysThereAndInNoList) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(2, 100, 6));
  EXPECT_EQ(shortlist.always, (Ids{0, 11})) << "the first of equal ones";
  EXPECT_EQ(list_of(shortlist, 1), (Ids{12, 13}));
  EXPECT_EQ(list_of(shortlist, 2), (Ids{12}));
  EXPECT_TRUE(list_of(shortlist, 4).empty());
  EXPECT_TRUE(list_of(shortlist, 5).empty());
  EXPECT_EQ(make_shortlist(kPairs, options_of(50, 0, 6)).always, (Ids{0, 11, 12, 13}));
}

TEST(MakeShortlist, WhatIsNeverChosenIsNotListed) {
  ShortlistOptions options = options_of(1, 2, 4);
  options.never = {0, 13};
  const ShortlistSpec shortlist = make_shortlist(kPairs, options);
  EXPECT_EQ(shortlist.always, (Ids{11}));
  EXPECT_TRUE(std::ranges::count(shortlist.ids, 13u) == 0 && std::ranges::count(shortlist.ids, 0u) == 0);
}

TEST(MakeShortlist, SaysHowFarItIs) {
  ShortlistOptions options = options_of(1, 1, 4);
  std::vector<size_t> done;
  options.progress = [&](size_t n, size_t total) {
    done.push_back(n);
    EXPECT_EQ(total, 15u);
  };
  (void)make_shortlist(kPairs, options);
  ASSERT_EQ(done.size(), 15u);
  EXPECT_EQ(done.back(), 15u);
}

std::vector<IdPair> random_pairs(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<IdPair> pairs(60);
  for (IdPair& pair : pairs) {
    for (size_t n = 1 + random() % 8; n > 0; --n) pair.source.push_back(static_cast<int32_t>(random() % 20));
    for (size_t n = 1 + random() % 8; n > 0; --n) pair.target.push_back(static_cast<int32_t>(random() % 30));
  }
  return pairs;
}

// t(e|f) by the paper's equations 14 and 17, five times, from the uniform distribution.
std::map<std::pair<int32_t, int32_t>, double> naive_model_1(const std::vector<IdPair>& pairs) {
  std::map<std::pair<int32_t, int32_t>, double> t;
  for (const IdPair& pair : pairs) {
    for (const int32_t f : pair.source)
      for (const int32_t e : pair.target) t[{f, e}] = 1.0 / 30;
  }
  for (int pass = 0; pass < 5; ++pass) {
    std::map<std::pair<int32_t, int32_t>, double> counts;
    std::map<int32_t, double> sums;
    for (const IdPair& pair : pairs) {
      for (const int32_t e : pair.target) {
        double all = 0;
        for (const int32_t f : pair.source) all += t[{f, e}];
        for (const int32_t f : pair.source) {
          counts[{f, e}] += t[{f, e}] / all;
          sums[f] += t[{f, e}] / all;
        }
      }
    }
    for (auto& [key, value] : t) value = counts[key] / sums[key.first];
  }
  return t;
}

TEST(MakeShortlist, IsModelOnesFormula) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const std::vector<IdPair> pairs = random_pairs(seed);
    const auto t = naive_model_1(pairs);
    const ShortlistSpec shortlist = make_shortlist(pairs, options_of(0, 4, 20));
    for (int32_t f = 0; f < 20; ++f) {
      const Ids list = list_of(shortlist, static_cast<size_t>(f));
      double least_listed = 1, largest_other = 0;
      for (const auto& [key, value] : t) {
        if (key.first != f) continue;
        const bool listed = std::ranges::count(list, static_cast<uint32_t>(key.second)) == 1;
        (listed ? least_listed : largest_other) =
            listed ? std::min(least_listed, value) : std::max(largest_other, value);
      }
      EXPECT_GE(least_listed, largest_other - 1e-12) << "source id " << f;
      EXPECT_LE(list.size(), 4u);
    }
  }
}

TEST(Coverage, CountsIdsLinesAndCandidates) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(1, 1, 4));
  const std::vector<IdPair> held_out = {{{2, 0}, {12, 0}}, {{3, 2, 0}, {12, 13, 14, 0}}};
  const ShortlistCoverage coverage = measure_coverage(shortlist, held_out, Ids{0});
  EXPECT_EQ(coverage.lines, 2u);
  EXPECT_EQ(coverage.whole_lines, 1u);
  EXPECT_EQ(coverage.target_ids, 6u);
  EXPECT_EQ(coverage.covered_ids, 5u);
  EXPECT_EQ(coverage.candidates, 2u + 3u);
  EXPECT_EQ(coverage.most_candidates, 3u);
}
}}  // namespace goldcrest::converter
