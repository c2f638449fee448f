// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert for firmware: it reads model files, changes the order of weights, and writes C source and budgets.
#include <nlohmann/json.hpp>
#include "goldcrest/goldcrest.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Emit = InFolder;
using Float32Program = InFolder;

const Arguments kLimits = {"--max-source", "25", "--max-target", "33", "--beam-size", "4", "--encoder-rows", "2"};

TEST_F(Emit, AModelFileIsOrderedAnewWithoutLoss) {
  for (const std::string task : {"g2p", "enfr"}) {
    const TemporaryFolder fresh;
    const std::filesystem::path helium = fresh / "helium.gcst", back = fresh / "back.gcst";
    ASSERT_EQ(convert(checkpoint_folder(task), {"-o", helium, "--cpu", "cortex-m55"}).status, 0);
    const Outcome there = convert(converted_model(task), {"-o", fresh / "there.gcst", "--cpu", "cortex-m55"});
    ASSERT_EQ(there.status, 0) << there.err;
    EXPECT_TRUE(read_file(fresh / "there.gcst") == read_file(helium)) << task;
    ASSERT_EQ(convert(helium, {"-o", back, "--cpu", "cortex-m7"}).status, 0);
    EXPECT_TRUE(read_file(back) == read_file(converted_model(task))) << task;
    ASSERT_EQ(convert(helium, {"-o", back}).status, 0);
    EXPECT_TRUE(read_file(back) == read_file(helium)) << "without --cpu the order does not change";
  }
}

TEST_F(Emit, CheckpointAndModelFileGiveTheSameSource) {
  const Outcome first =
      convert(checkpoint_folder("g2p"), concat(kLimits, {"--emit-c", folder / "a", "-o", folder / "m"}));
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(has(first.out, "written      " + (folder / "a/model_g2p.h").string() + "\n"));
  EXPECT_TRUE(read_file(folder / "a/model_g2p.gcst") == read_file(folder / "m"));
  const Outcome second = convert(folder / "m", concat(kLimits, {"--emit-c", folder / "b", "--name", "g2p"}));
  ASSERT_EQ(second.status, 0) << second.err;
  for (const char* name : {"model_g2p.h", "model_g2p.S", "model_g2p.gcst"})
    EXPECT_TRUE(folder.read(std::string("a/") + name) == folder.read(std::string("b/") + name)) << name;
  // The file keeps its own limits; only the header has fewer tokens.
  const Outcome third = convert(converted_model("g2p"), concat(kLimits, {"--emit-c", folder / "c", "--array"}));
  ASSERT_EQ(third.status, 0) << third.err;
  EXPECT_TRUE(folder.read("c/model_g2p.h") == folder.read("a/model_g2p.h"));
  EXPECT_EQ(files_in(folder / "c"), 2u);
}

TEST_F(Emit, ABudgetThatIsExceededWritesNothing) {
  for (const std::filesystem::path& input : {checkpoint_folder("g2p"), converted_model("g2p")}) {
    const Outcome fits = with_status(0, convert(input, concat(kLimits, {"--budget", "arena=128K,file=2M"})));
    const Outcome exceeds = with_status(5,
        convert(input,
            concat(kLimits, {"--budget", "arena=64,file=1M", "-o", folder / "model.gcst", "--emit-c", folder / "c"})));
    EXPECT_TRUE(has(exceeds.err, input.string() + " does not fit")) << exceeds.err;
    EXPECT_TRUE(has(exceeds.err, "more than --budget arena=64\n")) << exceeds.err;
    EXPECT_TRUE(has(exceeds.err, "more than --budget file=1048576\n")) << exceeds.err;
    EXPECT_EQ(files_in(folder.path()), 0u);
  }
}

TEST_F(Emit, BadUsage) {
  const std::filesystem::path model = converted_model("g2p");
  const Arguments for_checkpoints[] = {{"--license", "MIT"}, {"--attribution", "me"}, {"--self-test", "file"},
      {"--check", "folder"}, {"--evaluate", "file"}, {"--report", "file"}, {"--config", "file"}, {"--json"}};
  for (const Arguments& options : for_checkpoints) {
    const Outcome outcome = convert(model, options);
    EXPECT_EQ(outcome.status, 2) << options[0];
    EXPECT_TRUE(has(outcome.err, options[0] + " works on a checkpoint")) << outcome.err;
  }
  const Arguments bad[] = {{"--array"}, {"--section", ".x"}, {"--emit-c", folder / "c", "--section", "a b"},
      {"--budget", "arena=1G"}, {"--budget", "flash=1"}, {"--cpu", "z80"}};
  for (const Arguments& options : bad) EXPECT_EQ(convert(model, options).status, 2) << options[0];
  EXPECT_TRUE(has(convert(model, {"--emit-c", folder / "c", "--name", "/"}).err, "--name"));
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST_F(Emit, ADamagedModelFileIsRefused) {
  const std::string good = read_file(converted_model("g2p"));
  const auto refuse = [&](const std::string& bytes, const std::string& words) {
    const std::filesystem::path input = folder.write("bad.gcst", bytes);
    const Outcome outcome =
        convert(input, {"-o", folder / "out.gcst", "--emit-c", folder / "c", "--cpu", "cortex-m55"});
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_TRUE(has(outcome.err, input.string() + ": ")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, words)) << outcome.err;
    EXPECT_EQ(files_in(folder.path()), 1u);
  };
  refuse("", "empty");
  refuse(good.substr(0, good.size() - 1), "multiple of 64");
  refuse(good.substr(0, good.size() - 64), "trailer");
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 4;
  refuse(damaged, "corrupt");
}

TEST_F(Emit, LimitsThatAModelFileCannotHaveAreRefused) {
  const Outcome outcome = with_status(1, convert(converted_model("g2p"), {"--max-source", "65"}));
  EXPECT_TRUE(has(outcome.err, "--max-source is 65; expected 1 to 64")) << outcome.err;
}

// Files with float32 weights, from the shipped checkpoints to text: the engine gives the training framework's results.

// Writes the float32 file of a shipped checkpoint and returns its report.
nlohmann::json convert_to_float32(const std::string& task, const std::filesystem::path& model) {
  return nlohmann::json::parse(
      with_status(0, run(convert_program(), {checkpoint_folder(task), "-q", "--json", "--weights", "float32",
                                                "--max-target", task == "g2p" ? "48" : "99", "-o", model}))
          .out);
}

// Counts the lines of the first `n` golden results whose ids are the framework's.
size_t count_golden(const std::string& task, const std::filesystem::path& model, const std::string& beam_size,
    std::vector<int32_t> GoldenLine::*search, size_t n) {
  std::vector<GoldenLine> golden = golden_lines(task);
  golden.resize(n);
  std::string input;
  for (const GoldenLine& line : golden) input += line.text + "\n";
  const Outcome outcome =
      with_status(0, run(translate_program(), {model, "--tokens", "--beam-size", beam_size}, {.input = input}));
  const std::vector<std::string> ids = lines_of(outcome.out);
  EXPECT_EQ(ids.size(), n);
  size_t same = 0;
  for (size_t i = 0; i < ids.size(); ++i) same += ids[i] == ids_text(golden[i].*search) ? 1 : 0;
  return same;
}

TEST_F(Float32Program, GivesTheFrameworksTokens) {
  for (const std::string task : {"g2p", "enfr"}) {
    const nlohmann::json report = convert_to_float32(task, folder / task);
    for (const nlohmann::json& tensor : report.at("tensors")) EXPECT_TRUE(tensor.at("sqnr_db").is_null());
    const size_t n = task == "g2p" ? 400 : 40;
    EXPECT_EQ(count_golden(task, folder / task, "1", &GoldenLine::greedy, n), n) << task;
    EXPECT_EQ(count_golden(task, folder / task, "4", &GoldenLine::beam4, n / 2), n / 2) << task;
  }
}

TEST_F(Float32Program, PassesItsSelfTestWithEveryTable) {
  const std::filesystem::path model = folder / "model.gcst";
  convert_to_float32("g2p", model);
  for (const std::string table : {"reference", "best"}) {
    const std::string command = (table == "best" ? "unset GOLDCREST_KERNELS" : "export GOLDCREST_KERNELS=" + table) +
                                "; exec \"$0\" \"$1\" --self-test";
    const Outcome outcome = with_status(0, run("/bin/sh", {"-c", command, inspect_program(), model}));
    EXPECT_TRUE(has(outcome.out, "weights      float32\n"));
    EXPECT_TRUE(has(outcome.out, "self-test    passed with kernels"));
  }
}

TEST_F(Float32Program, EvaluationComparesTheEngineWithTheReference) {
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

TEST_F(Float32Program, OtherWeightsAreBadUsage) {
  const Outcome outcome = with_status(2, run(convert_program(), {checkpoint_folder("g2p"), "--weights", "float16"}));
  EXPECT_TRUE(has(outcome.err, "--weights"));
}
}}  // namespace goldcrest::test
