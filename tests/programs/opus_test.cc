// SPDX-License-Identifier: Apache-2.0
// A checkpoint of OPUS-MT's real shape and vocabulary gives the same model from both containers, in under a minute.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "programs/memory.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

constexpr double kMaxSecondsToConvert = 60;

struct Converted {
  std::string bytes, checkpoint_sha256;
};

// Both folders have the same name, which becomes the model's name.
Converted convert(const TemporaryFolder& folder, const std::string& container) {
  const std::filesystem::path checkpoint = folder / container / "opus", model = folder / (container + ".gcst");
  const Outcome made = run(GOLDCREST_MAKE_OPUS_PROGRAM, {checkpoint, container});
  EXPECT_EQ(made.status, 0) << made.err;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run(convert_program(), {"-q", "--json", checkpoint, "-o", model});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(seconds, kMaxSecondsToConvert);
  expect_lean(outcome, checkpoint, model);
  ::testing::Test::RecordProperty("seconds_" + container, std::to_string(seconds));
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report.at("encoder").at("layers"), 6);
  EXPECT_EQ(report.at("decoder").at("d_ff"), 2048);
  return {read_file(model), report.at("checkpoint_sha256")};
}

TEST(Opus, BothContainersGiveTheSameModel) {
  const TemporaryFolder folder;
  const Converted safetensors = convert(folder, "safetensors"), zip = convert(folder, "bin");
  ASSERT_NE(safetensors.checkpoint_sha256, zip.checkpoint_sha256);

  // The two files have different hashes, so only the checksums of the metadata and of the trailer may differ
  // (FORMAT.md, section 1).
  std::string expected = safetensors.bytes, found = zip.bytes;
  const size_t at = expected.find(safetensors.checkpoint_sha256);
  ASSERT_NE(at, std::string::npos);
  expected.replace(at, zip.checkpoint_sha256.size(), zip.checkpoint_sha256);
  ASSERT_EQ(expected.size(), found.size());
  const size_t trailer = found.size() - 64;
  for (const auto& [offset, size] : {std::pair(24, 4), std::pair(60, 4)}) {
    expected.replace(trailer + static_cast<size_t>(offset), static_cast<size_t>(size), static_cast<size_t>(size), '\0');
    found.replace(trailer + static_cast<size_t>(offset), static_cast<size_t>(size), static_cast<size_t>(size), '\0');
  }
  EXPECT_TRUE(expected == found);

  for (const char* name : {"safetensors.gcst", "bin.gcst"}) {
    const Outcome outcome =
        run(translate_program(), {folder / name, "--max-target", "20"}, {.input = "How are you?\n"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(lines_of(outcome.out).size(), 1u);
    EXPECT_GT(outcome.out.size(), 1u) << "some text, although weights are random";
    EXPECT_EQ(run(inspect_program(), {folder / name, "--self-test"}).status, 0);
  }
}

// Memory of a conversion: the largest tensor as float32, a third of that for all else, and the file.
TEST(Memory, OneTensorOfACheckpointAtATime) {
  const TemporaryFolder folder;
  const std::filesystem::path checkpoint = folder / "opus", model = folder / "opus.gcst";
  ASSERT_EQ(run(GOLDCREST_MAKE_OPUS_PROGRAM, {checkpoint, "safetensors"}).status, 0);
  const Outcome outcome = run(convert_program(), {"-q", checkpoint, "-o", model});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_lean(outcome, checkpoint, model);
}

}  // namespace
}  // namespace goldcrest::test
