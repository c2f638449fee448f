// SPDX-License-Identifier: Apache-2.0
// --evaluate with translators whose answers are known, and the reading of its file.
#include <gtest/gtest.h>

#include <map>

#include "convert/support/sample_folder.h"
#include "evaluate/evaluate.h"
#include "spec/error.h"
#include "support/random_spec.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

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
  KnownTranslator float32({{"one", {{1, 2, 3, 0}, "the first line of all", ""}},
                           {"two", {{4, 5, 0}, "the second line of all", ""}},
                           {"three", {{6, 0}, "anything", ""}},
                           {"four", {{7, 0}, "the fourth line of all", ""}}});
  KnownTranslator int8({{"one", {{1, 2, 3, 0}, "the first line of all", ""}},
                        {"two", {{4, 9, 5, 0}, "the second line of al", ""}},
                        {"three", {{8, 0}, "something else", ""}},
                        {"four", {{}, "", "too long"}}});
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
  EXPECT_NE(text.find("3 lines: 1 identical (33.33 %), token agreement 80.00 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("earlier line"), std::string::npos) << text;
  EXPECT_NE(text.find("line 5 left out: too long"), std::string::npos) << text;
  EXPECT_NE(text.find("line 4: lost"), std::string::npos) << text;
  EXPECT_EQ(text.find("line 3: lost"), std::string::npos) << text;
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
  EXPECT_NE(text.find("\n2 more lines have an earlier line's source: they count once, with all references\n"),
            std::string::npos)
      << text;
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
}

}  // namespace
}  // namespace goldcrest::converter
