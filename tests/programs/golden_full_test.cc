// SPDX-License-Identifier: Apache-2.0
// The loss by int8 on the whole validation sets, compared with the training framework's float32 results.
#include <nlohmann/json.hpp>
#include "evaluate/evaluate.h"
#include "evaluate/metrics.h"
#include "programs/models.h"
#include "spec/format_text.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Search = std::vector<int32_t> GoldenLine::*;

struct Translations {
  std::vector<std::string> ids, texts;
};

class Validation {
 public:
  explicit Validation(const std::string& task) : task_(task), golden_(golden_lines(task)) {
    const std::filesystem::path file = validation_file(task);
    for (const converter::EvaluationLine& line : converter::read_evaluation_lines(file, " | "))
      references_[line.source] = line.references;
  }

  size_t size() const { return golden_.size(); }

  Translations float32(Search search) const {
    Translations result;
    for (const GoldenLine& line : golden_) result.ids.push_back(ids_text(line.*search));
    result.texts = decode(result.ids);
    return result;
  }

  Translations int8(const std::string& beam_size, const std::string& max_target) const {
    std::string input;
    for (const GoldenLine& line : golden_) input += line.text + "\n";
    Translations result = {.ids = translate({"--beam-size", beam_size, "--max-target", max_target, "--tokens"}, input)};
    result.texts = decode(result.ids);
    return result;
  }

  double bleu(const Translations& translations) const {
    converter::BleuScorer scorer;
    for (size_t i = 0; i < size(); ++i) scorer.add(translations.texts[i], references_.at(golden_[i].text));
    return scorer.score();
  }

  // Percentage of lines that equal no reference.
  double error_rate(const Translations& translations) const {
    converter::ErrorRateScorer scorer;
    for (size_t i = 0; i < size(); ++i) scorer.add(translations.texts[i], references_.at(golden_[i].text));
    return 100 - scorer.exact_match();
  }
 private:
  std::vector<std::string> translate(const Arguments& arguments, const std::string& input) const {
    std::vector<std::string> lines = lines_of(with_status(0, test::translate(task_, arguments, input)).out);
    EXPECT_EQ(lines.size(), size());
    lines.resize(size());
    return lines;
  }

  std::vector<std::string> decode(const std::vector<std::string>& ids) const {
    std::string input;
    for (const std::string& line : ids) input += line + "\n";
    return translate({"--decode"}, input);
  }

  std::string task_;
  std::vector<GoldenLine> golden_;
  std::map<std::string, std::vector<std::string>> references_;
};

// Percentage of equal lines.
double identical(const Translations& a, const Translations& b) {
  size_t n = 0;
  for (size_t i = 0; i < a.ids.size(); ++i) n += a.ids[i] == b.ids[i];
  return 100.0 * static_cast<double>(n) / static_cast<double>(a.ids.size());
}

constexpr std::pair<const char*, Search> kSearches[] = {{"1", &GoldenLine::greedy}, {"4", &GoldenLine::beam4}};

TEST(AllGoldenLines, EnglishToFrench) {
  const Validation validation("enfr");
  ASSERT_EQ(validation.size(), 960u);
  for (const auto& [beam_size, search] : kSearches) {
    const Translations float32 = validation.float32(search), int8 = validation.int8(beam_size, "99");
    const double expected = validation.bleu(float32), found = validation.bleu(int8), same = identical(float32, int8);
    converter::print_text("enfr, beam size {}: BLEU {:.2f} float32, {:.2f} int8; {:.2f} % of lines identical\n",
        beam_size, expected, found, same);
    EXPECT_GE(found, expected - 0.2) << "beam size " << beam_size;
    EXPECT_GE(same, 95.0) << "beam size " << beam_size;
  }
}

TEST(AllGoldenLines, SpellingToPronunciation) {
  const Validation validation("g2p");
  ASSERT_EQ(validation.size(), 2484u);
  for (const auto& [beam_size, search] : kSearches) {
    const Translations float32 = validation.float32(search), int8 = validation.int8(beam_size, "48");
    const double expected = validation.error_rate(float32), found = validation.error_rate(int8);
    const double same = identical(float32, int8);
    converter::print_text(
        "g2p, beam size {}: word error {:.2f} % float32, {:.2f} % int8; {:.2f} % of words identical\n", beam_size,
        expected, found, same);
    EXPECT_LE(found, expected + 0.3) << "beam size " << beam_size;
    EXPECT_GE(same, 98.5) << "beam size " << beam_size;
  }
}

// A T5 over bytes: int8 makes at most 1.02 of float32's errors.
TEST(AllGoldenLines, BytesToPronunciation) {
  const nlohmann::json report = convert_json(checkpoint_folder("g2p-bytes"),
      {"--max-target", "64", "--beam-size", "1", "--evaluate", validation_file("g2p"), "--alternatives", " | "});
  const nlohmann::json& evaluation = report.at("evaluation");
  EXPECT_EQ(evaluation.at("lines"), 2484);
  const auto errors = [&](const char* weights) { return 100 - evaluation.at(weights).at("exact_match").get<double>(); };
  converter::print_text(
      "g2p-bytes, greedy: word error {:.2f} % float32, {:.2f} % int8\n", errors("float32"), errors("int8"));
  EXPECT_LE(errors("float32"), 45);
  EXPECT_LE(errors("int8"), 1.02 * errors("float32"));
}
}}  // namespace goldcrest::test
