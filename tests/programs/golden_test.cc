// SPDX-License-Identifier: Apache-2.0
// The int8 engine on the first validation lines. Source ids are exactly the training framework's. Target ids are those
// of its float32 model on all but a few lines, and the text is that of the target ids.
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr size_t kLines = 100;
constexpr size_t kLeastIdentical = 95;

struct Task {
  const char* name;
  const char* max_target;  // the maximum that made the golden results
};

class FirstGoldenLines : public ::testing::TestWithParam<Task> {
 protected:
  FirstGoldenLines() : golden_(golden_lines(GetParam().name)) {
    golden_.resize(kLines);
    for (const GoldenLine& line : golden_) input_ += line.text + "\n";
  }

  std::vector<std::string> translate(const Arguments& arguments, const std::string& input) {
    const Outcome outcome = with_status(0, test::translate(GetParam().name, arguments, input));
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> lines = lines_of(outcome.out);
    EXPECT_EQ(lines.size(), kLines);
    lines.resize(kLines);
    return lines;
  }

  std::vector<GoldenLine> golden_;
  std::string input_;
};

TEST_P(FirstGoldenLines, SourceIdsAreTheFrameworks) {
  const std::vector<std::string> found = translate({"--encode"}, input_);
  for (size_t i = 0; i < kLines; ++i) EXPECT_EQ(found[i], ids_text(golden_[i].source_ids)) << golden_[i].text;
}

TEST_P(FirstGoldenLines, TargetIdsAndTextAreThoseOfFloat32ButForAFewLines) {
  for (const auto& [beam_size, expected] : {std::pair("1", &GoldenLine::greedy), std::pair("4", &GoldenLine::beam4)}) {
    const Arguments options = {"--beam-size", beam_size, "--max-target", GetParam().max_target};
    Arguments with_tokens = options;
    with_tokens.push_back("--tokens");
    const std::vector<std::string> ids = translate(with_tokens, input_), texts = translate(options, input_);
    std::string golden_ids;
    for (const GoldenLine& line : golden_) golden_ids += ids_text(line.*expected) + "\n";
    const std::vector<std::string> golden_texts = translate({"--decode"}, golden_ids);
    size_t n_identical = 0;
    for (size_t i = 0; i < kLines; ++i) {
      const bool is_identical = ids[i] == ids_text(golden_[i].*expected);
      n_identical += is_identical;
      if (is_identical) {
        EXPECT_EQ(texts[i], golden_texts[i]) << golden_[i].text;
      }
    }
    EXPECT_GE(n_identical, kLeastIdentical) << "beam size " << beam_size;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, FirstGoldenLines,
    ::testing::Values(Task{"g2p", "48"}, Task{"g2p-bytes", "64"}, Task{"enfr", "99"}), [](const auto& task) {
      std::string name = task.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });
}}  // namespace goldcrest::test
