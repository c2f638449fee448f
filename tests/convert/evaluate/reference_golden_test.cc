// SPDX-License-Identifier: Apache-2.0
// The trained checkpoints against the golden results of PyTorch and transformers: every layer, logits, ids of both
// searches.
#include <gtest/gtest.h>

#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "evaluate/check.h"

namespace goldcrest::converter {
namespace {

// Every GOLDCREST_GOLDEN_STEP-th line is searched; 1 is the whole set.
void expect_golden(const std::string& task, uint32_t max_target_tokens, size_t n_lines) {
  const std::filesystem::path checkpoint = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models" / task;
  const ModelSpec spec = load_checkpoint(checkpoint, {});
  const test::SampleFolder samples(task, GOLDCREST_GOLDEN_STEP);
  CheckOptions options;
  options.max_target_tokens = max_target_tokens;  // what the golden results were made with
  const CheckReport report = check(Reference(spec), samples.path(), options);
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_GE(report.tensors.size(), 9u);
  for (const TensorCheck& tensor : report.tensors) EXPECT_LE(tensor.largest_difference, 2e-4) << tensor.name;
  ASSERT_EQ(report.searches.size(), 2u);
  for (const SearchCheck& search : report.searches) {
    EXPECT_EQ(search.lines, (n_lines + GOLDCREST_GOLDEN_STEP - 1) / GOLDCREST_GOLDEN_STEP) << search.name;
    EXPECT_LE(search.ties, 5u) << to_text(report);
  }
}

TEST(ReferenceGolden, SpellingToPronunciation) { expect_golden("g2p", 48, 2484); }

TEST(ReferenceGolden, EnglishToFrench) { expect_golden("enfr", 99, 960); }

}  // namespace
}  // namespace goldcrest::converter
