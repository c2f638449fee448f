// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench: that it measures the work it was asked for, and says clearly when it cannot. No figure of speed is
// tested.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "examples/support/mapped_file.h"
#include "goldcrest/goldcrest.h"
#include "programs/models.h"
#include "programs/process.h"

namespace goldcrest::test {
namespace {

using Json = nlohmann::json;

Outcome bench(Arguments arguments) { return run(GOLDCREST_BENCH_PROGRAM, arguments); }

Json bench_json(Arguments arguments) {
  arguments.insert(arguments.begin(), {converted_model("g2p"), "--json", "--seconds", "0", "--repetitions", "2"});
  const Outcome outcome = bench(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return Json::parse(outcome.out);
}

TEST(Bench, MeasuresEveryBeamSizeWithEveryBatch) {
  const Json report =
      bench_json({"--measure", "speed", "--beam", "1,3", "--batch", "1,5", "--source", "7", "--target", "9"});
  EXPECT_EQ(report["source_tokens"], 7);
  EXPECT_EQ(report["target_tokens"], 9);
  ASSERT_EQ(report["speed"].size(), 4u);
  MappedFile model;
  ASSERT_EQ(model.open(converted_model("g2p")), "");
  size_t i = 0;
  for (const uint32_t beam_size : {1u, 3u}) {
    for (const uint32_t batch : {1u, 5u}) {
      const Json& speed = report["speed"][i++];
      EXPECT_EQ(speed["beam_size"], beam_size);
      EXPECT_EQ(speed["batch"], batch);
      goldcrest_limits limits = {};
      limits.max_source_tokens = 7;
      limits.max_target_tokens = 10;  // the forced end token too
      limits.beam_size = beam_size;
      limits.batch = batch;
      EXPECT_EQ(speed["arena_bytes"], goldcrest_arena_bytes(model.bytes(), model.size(), &limits));
      EXPECT_EQ(speed["run"]["repetitions"], 2);
      const double run_s = speed["run"]["median_s"];
      EXPECT_GT(run_s, 0);
      EXPECT_NEAR(double{speed["tokens_per_s"]} * run_s, batch * 9.0, 1e-6);
      EXPECT_FALSE(speed.contains("bandwidth_share"));
    }
  }
  EXPECT_FALSE(report.contains("open"));
}

TEST(Bench, CountsTheWeightsThatOnePositionReads) {
  // Two layers of d_model 128 and d_ff 512, 73 ids padded to 80; for each output also a scale, a bias and a sum.
  const uint64_t layer = 6 * 128 * (128 + 12) + 512 * (128 + 12) + 128 * (512 + 12);
  EXPECT_EQ(bench_json({"--measure", "breakdown"})["streamed_bytes_per_position"], 2 * layer + 80 * (128 + 12));
}

TEST(Bench, BreaksAPositionDownIntoTheDecodersLayers) {
  const Json breakdown = bench_json({"--measure", "breakdown"})["breakdown"];
  ASSERT_EQ(breakdown["decoder_layer_s"].size(), 2u);
  for (const double seconds : breakdown["decoder_layer_s"]) EXPECT_GT(seconds, 0);
  EXPECT_GT(double{breakdown["output_s"]}, 0);
  EXPECT_GT(double{breakdown["encode_s"]}, 0);
}

TEST(Bench, ListsTheKernelsThatRunHereAndForcesOne) {
  std::vector<std::string> names;
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) names.push_back(goldcrest_kernels_at(i));
  EXPECT_EQ(lines_of(bench({"--list-kernels"}).out), names);
  EXPECT_EQ(bench_json({"--measure", "open", "--kernels", "reference"})["kernels"], "reference");
}

TEST(Bench, FitsTheUsualLengthsToTheModelAndRefusesTooLongOnes) {
  const Json report = bench_json({"--measure", "speed", "--beam", "1", "--batch", "1"});
  EXPECT_EQ(report["source_tokens"], 32);
  EXPECT_EQ(report["target_tokens"], 63);  // 64 positions, one of them for the end token
  const Outcome outcome = bench({converted_model("g2p"), "--target", "64", "--measure", "speed"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("limits.max_target_tokens"), std::string::npos) << outcome.err;
}

TEST(Bench, NamesWhatIsWrong) {
  const Outcome missing = bench({"missing.gcst"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "goldcrest-bench: missing.gcst: No such file or directory\n");
  EXPECT_EQ(bench({}).status, 2);
  EXPECT_EQ(bench({converted_model("g2p"), "--measure", "nonsense"}).status, 2);
  const Outcome table = bench({converted_model("g2p"), "--kernels", "nonsense"});
  EXPECT_EQ(table.status, 1);
  EXPECT_NE(table.err.find("no such table"), std::string::npos) << table.err;
}

}  // namespace
}  // namespace goldcrest::test
