// SPDX-License-Identifier: Apache-2.0
// Files with float32 weights, from the shipped checkpoints to text: the engine gives the training framework's results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

// Writes the float32 file of a shipped checkpoint and returns its report.
nlohmann::json convert_to_float32(const std::string& task, const std::filesystem::path& model) {
  const Outcome outcome = run(convert_program(), {checkpoint_folder(task), "-q", "--json", "--weights", "float32",
                                                  "--max-target", task == "g2p" ? "48" : "99", "-o", model});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

// Counts the lines of the first `n` golden results whose ids are the framework's.
size_t count_golden(const std::string& task, const std::filesystem::path& model, const std::string& beam_size,
                    std::vector<int32_t> GoldenLine::*search, size_t n) {
  std::vector<GoldenLine> golden = golden_lines(task);
  golden.resize(n);
  std::string input;
  for (const GoldenLine& line : golden) input += line.text + "\n";
  const Outcome outcome = run(translate_program(), {model, "--tokens", "--beam-size", beam_size}, {.input = input});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> ids = lines_of(outcome.out);
  EXPECT_EQ(ids.size(), n);
  size_t same = 0;
  for (size_t i = 0; i < ids.size(); ++i) same += ids[i] == ids_text(golden[i].*search) ? 1 : 0;
  return same;
}

TEST(Float32Program, GivesTheFrameworksTokens) {
  const TemporaryFolder folder;
  for (const std::string task : {"g2p", "enfr"}) {
    const nlohmann::json report = convert_to_float32(task, folder / task);
    for (const nlohmann::json& tensor : report.at("tensors")) EXPECT_TRUE(tensor.at("sqnr_db").is_null());
    const size_t n = task == "g2p" ? 400 : 40;
    EXPECT_EQ(count_golden(task, folder / task, "1", &GoldenLine::greedy, n), n) << task;
    EXPECT_EQ(count_golden(task, folder / task, "4", &GoldenLine::beam4, n / 2), n / 2) << task;
  }
}

TEST(Float32Program, PassesItsSelfTestWithEveryTable) {
  const TemporaryFolder folder;
  const std::filesystem::path model = folder / "model.gcst";
  convert_to_float32("g2p", model);
  for (const std::string table : {"reference", "best"}) {
    const std::string command = (table == "best" ? "unset GOLDCREST_KERNELS" : "export GOLDCREST_KERNELS=" + table) +
                                "; exec \"$0\" \"$1\" --self-test";
    const Outcome outcome = run("/bin/sh", {"-c", command, inspect_program(), model});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("weights      float32\n"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("self-test    passed with kernels"), std::string::npos) << outcome.out;
  }
}

TEST(Float32Program, EvaluationComparesTheEngineWithTheReference) {
  const TemporaryFolder folder;
  std::string lines;
  const std::vector<GoldenLine> golden = golden_lines("g2p");
  for (size_t i = 0; i < 50; ++i) lines += golden[i].text + "\tAH0 B\n";
  const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "-q", "--json", "--weights", "float32",
                                                  "--evaluate", folder.write("lines", lines), "--max-loss", "0"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json evaluation = nlohmann::json::parse(outcome.out).at("evaluation");
  EXPECT_EQ(evaluation.at("identical_lines"), 50);
  EXPECT_EQ(evaluation.at("engine"), evaluation.at("float32"));
  EXPECT_FALSE(evaluation.contains("int8"));
}

TEST(Float32Program, OtherWeightsAreBadUsage) {
  const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "--weights", "float16"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--weights"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace goldcrest::test
