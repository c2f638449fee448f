// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench measures the work that it was asked for, and says clearly if it cannot. No figure of speed is tested.
#include <nlohmann/json.hpp>
#include "examples/bench/machine.h"
#include "examples/bench/report.h"
#include "goldcrest/goldcrest.h"
#include "host/model_memory.h"
#include "host/thread_pool.h"
#include "programs/models.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using Json = nlohmann::json;
using Bench = InFolder;

Outcome bench(const Arguments& arguments) { return run(GOLDCREST_BENCH_PROGRAM, arguments); }

Json bench_json(const Arguments& arguments) {
  const Arguments brief = {converted_model("g2p"), "--json", "--seconds", "0", "--repetitions", "2"};
  return Json::parse(with_status(0, bench(concat(brief, arguments))).out);
}

TEST_F(Bench, MeasuresEveryBeamSizeWithEveryBatch) {
  const Json report =
      bench_json({"--measure", "speed", "--beam-size", "1,3", "--batch", "1,5", "--source", "7", "--target", "9"});
  EXPECT_EQ(report["source_tokens"], 7);
  EXPECT_EQ(report["target_tokens"], 9);
  ASSERT_EQ(report["cases"].size(), 4u);
  MappedFile model;
  ASSERT_EQ(model.open(converted_model("g2p")), "");
  size_t i = 0;
  for (const uint32_t beam_size : {1u, 3u}) {
    for (const uint32_t batch : {1u, 5u}) {
      const Json& speed = report["cases"][i++];
      EXPECT_EQ(speed["beam_size"], beam_size);
      EXPECT_EQ(speed["batch"], batch);
      goldcrest_limits limits = {.max_source_tokens = 7};
      limits.max_target_tokens = 10;  // includes the forced end token
      limits.beam_size = beam_size;
      limits.batch = batch;
      EXPECT_EQ(speed["arena_bytes"], goldcrest_arena_bytes(model.bytes(), model.size(), &limits));
      EXPECT_EQ(speed["run"]["repetitions"], 2);
      const double run_s = speed["run"]["median_s"];
      EXPECT_GT(run_s, 0);
      EXPECT_NEAR(double{speed["tokens_per_s"]} * run_s, batch * 9.0, 1e-6);
      EXPECT_FALSE(speed.contains("bound"));
      EXPECT_FALSE(speed.contains("kernels"));
    }
  }
  EXPECT_FALSE(report.contains("open"));
}

TEST_F(Bench, ComparesWithOtherKernelsInTurns) {
  const Json report =
      bench_json({"--measure", "speed", "--beam-size", "1,2", "--batch", "1", "--against", "reference"});
  ASSERT_EQ(report["cases"].size(), 2u);
  for (const Json& measured : report["cases"]) {
    const Json& against = measured["against"];
    EXPECT_EQ(against["kernels"], "reference");
    EXPECT_EQ(against["run"]["repetitions"], 2);
    EXPECT_GT(double{against["ratio"]}, 0);
  }
  EXPECT_FALSE(bench_json({"--measure", "speed"})["cases"][0].contains("against"));
}

// XNNPACK's kernels where this build has them; elsewhere it says so.
TEST_F(Bench, ComparesWithXnnpackOrSaysThatItLacksIt) {
  const Outcome outcome = bench({converted_model("g2p"), "--seconds", "0", "--repetitions", "1", "--measure", "speed",
      "--beam-size", "1", "--batch", "1", "--against", "xnnpack"});
  if (outcome.status == 0) {
    EXPECT_TRUE(has(outcome.out, " over xnnpack, in turns\n"));
  } else {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome.err, "this build has no XNNPACK"));
  }
}

TEST_F(Bench, ComparesSpeedOnly) {
  EXPECT_TRUE(has(with_status(2, bench({converted_model("g2p"), "--measure", "open", "--against", "reference"})).err,
      "--against requires --measure speed"));
}

TEST_F(Bench, CountsTheWeightsThatOnePositionReads) {
  // Two layers of d_model 128 and d_ff 512, 73 ids padded to 80; each output also has a scale, a bias and a sum.
  const uint64_t layer = 6 * 128 * (128 + 12) + 512 * (128 + 12) + 128 * (512 + 12);
  EXPECT_EQ(
      bench_json({"--measure", "breakdown"})["streamed_bytes_per_position"], 2 * layer + uint64_t{80} * (128 + 12));
}

TEST_F(Bench, BreaksATranslationDownIntoLayers) {
  const Json breakdown = bench_json({"--measure", "breakdown"})["breakdown"];
  for (const char* stack : {"encoder_layer_s", "decoder_layer_s"}) {
    ASSERT_EQ(breakdown[stack].size(), std::string(stack) == "encoder_layer_s" ? 3u : 2u);
    for (const double seconds : breakdown[stack]) EXPECT_GT(seconds, 0);
  }
  for (const char* part : {"encoder_embed_s", "decoder_memory_s", "output_s"}) EXPECT_GT(double{breakdown[part]}, 0);
}

uint64_t sum_of(const Json& kernels, const char* quantity) {
  uint64_t sum = 0;
  for (const auto& [slot, work] : kernels.items())
    if (work.is_object()) sum += uint64_t{work[quantity]};
  return sum;
}

TEST_F(Bench, CountsTheWorkOfEveryKernel) {
  const Json report = bench_json(
      {"--measure", "speed,breakdown,bounds", "--beam-size", "1,3", "--batch", "2", "--source", "5", "--target", "7"});
  ASSERT_EQ(report["cases"].size(), 2u);
  uint64_t beam_size = 1;
  for (const Json& measured : report["cases"]) {
    const Json &encode = measured["kernels"]["encode"], &decode = measured["kernels"]["decode"];
    // Two sources of 5 rows, multiplied by the weights of three encoder layers and of the decoder's keys and values.
    EXPECT_EQ(encode["linear"]["macs"], 2 * 5 * (3 * (4 * 128 * 128 + 2 * 128 * 512) + 2 * 2 * 128 * 128));
    EXPECT_EQ(encode["attention"]["macs"], 2 * 3 * 5 * 5 * 2 * 128);
    EXPECT_EQ(encode["output_block"]["calls"], 0);
    for (const Json& part : {encode, decode}) EXPECT_GT(part["linear"]["again_s"], 0);
    // The first position takes a row for each source, the other six a row for each hypothesis.
    const uint64_t rows = 2 * (1 + 6 * beam_size);
    EXPECT_EQ(decode["linear"]["macs"], rows * 2 * (6 * 128 * 128 + 2 * 128 * 512));
    EXPECT_EQ(decode["output_block"]["macs"], rows * 80 * 128);
    EXPECT_EQ(measured["bound"]["encode"]["macs"], sum_of(encode, "macs"));
    EXPECT_EQ(measured["bound"]["decode"]["macs"], sum_of(decode, "macs"));
    EXPECT_EQ(measured["bound"]["decode"]["bytes"], sum_of(decode, "bytes"));
    beam_size = 3;
  }
}

// Files that need all slots: self-attending and recurrent layers, and a soft-max over the tokens that may be chosen.
// The int8 file has fine inputs too; the reference has no slot that computes them in one pass.
TEST_F(Bench, RecordsEverySlotThatASearchUses) {
  ModelSpec spec = tiny_spec(mixed_tiny_options());
  spec.generation.rules.renormalize = true;
  for (const converter::Weights weights : {converter::Weights::kInt8, converter::Weights::kFloat32}) {
    const std::string file = folder / "all.gcst";
    const bool fine = weights == converter::Weights::kInt8;
    converter::write_file(file, fine ? fine_tiny_file(spec, {}, "encoder.layers.*.feed_forward.*").span()
                                     : tiny_file(spec, Layout::kN16K4, {}, weights).span());
    const Outcome outcome = bench({file, "--json", "--seconds", "0", "--repetitions", "1", "--measure",
        "speed,breakdown", "--beam-size", "2", "--batch", "1", "--kernels", "reference"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json report = Json::parse(outcome.out), &kernels = report["cases"][0]["kernels"];
    size_t n = 0;
    for (const auto& [slot, work] : kernels["decode"].items()) {
      if (!work.is_object()) continue;
      const uint64_t calls = uint64_t{work["calls"]} + uint64_t{kernels["encode"][slot]["calls"]};
      EXPECT_EQ(calls > 0, fine || slot != "finish_fine") << slot;
      ++n;
    }
    EXPECT_EQ(n, 10u);
  }
}

// Every table computes the same multiply-accumulates, whichever slots it has.
TEST_F(Bench, CountsTheSameWorkOfFineInputsWithEveryTable) {
  const std::string file = folder / "fine.gcst";
  converter::write_file(file, fine_tiny_file(tiny_spec({}), {}, "encoder.layers.*.feed_forward.*").span());
  const auto macs = [&](const Arguments& kernels) {
    const Arguments brief = {file, "--json", "--seconds", "0", "--repetitions", "1", "--measure", "speed,breakdown",
        "--beam-size", "1", "--batch", "1"};
    const Json report = Json::parse(with_status(0, bench(concat(brief, kernels))).out);
    return sum_of(report["cases"][0]["kernels"]["encode"], "macs");
  };
  EXPECT_EQ(macs({}), macs({"--kernels", "reference"}));
}

TEST_F(Bench, TimesTheChoiceOfAShortlistsCandidates) {
  ModelSpec spec = tiny_spec({});
  const std::string file = folder / "shortlist.gcst";
  for (const bool has_shortlist : {false, true}) {
    if (has_shortlist) add_shortlist(1, spec);
    converter::write_file(file, tiny_file(spec).span());
    const Outcome outcome = bench({file, "--json", "--seconds", "0", "--repetitions", "1", "--measure", "breakdown"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["breakdown"].contains("candidates_s"), has_shortlist);
  }
}

TEST_F(Bench, BoundsEachCaseByTheMachinesMeasuredSpeeds) {
  const Json report = bench_json({"--measure", "speed,bounds", "--beam-size", "1", "--batch", "4"});
  EXPECT_GT(double{report["machine"]["macs_per_s"]}, 0);
  EXPECT_GE(report["machine"]["reading"].size(), 8u);
  const Json& measured = report["cases"][0];
  double seconds = 0;
  for (const char* part : {"encode", "decode"}) {
    const Json& roofline = measured["bound"][part];
    EXPECT_EQ(roofline["macs_per_s"], report["machine"]["macs_per_s"]);
    const double compute_s = roofline["compute_s"], memory_s = roofline["memory_s"];
    EXPECT_DOUBLE_EQ(compute_s, double{roofline["macs"]} / double{roofline["macs_per_s"]});
    EXPECT_DOUBLE_EQ(memory_s, double{roofline["bytes"]} / double{roofline["bytes_per_s"]});
    EXPECT_EQ(roofline["seconds"], std::max(compute_s, memory_s));
    EXPECT_EQ(roofline["limit"], compute_s > memory_s ? "arithmetic" : "memory");
    seconds += double{roofline["seconds"]};
  }
  EXPECT_DOUBLE_EQ(measured["bound"]["tokens_per_s"], 4 * 63 / seconds);
  const Json& parts = measured["bound"]["parts"];
  double floor_s = 0;
  for (const char* part : {"encode", "decode"}) {
    double sum = 0;
    for (const char* name : {"matrices_s", "exponentials_s", "attention_s", "rows_s", "choice_s"})
      sum += double{parts[part][name]};
    EXPECT_DOUBLE_EQ(parts[part]["seconds"], sum);
    EXPECT_GT(double{parts[part]["matrices_s"]}, 0);
    floor_s += sum;
  }
  EXPECT_DOUBLE_EQ(parts["tokens_per_s"], 4 * 63 / floor_s);
}

// The seconds of all slots differ, so a wrong sum is noticed.
TEST_F(Bench, SumsTheFloorByParts) {
  const ThreadPool pool;
  bench::Machine machine("reference", pool, {0.0, 0, 1});
  bench::Record record;
  for (size_t slot = 0; slot < bench::kSlots; ++slot)
    record.kernels[slot] = {1, 0, 0, 0, 0.5, static_cast<double>(1 << slot)};
  record.rest_s = 0.25;
  const bench::Parts parts = bench::parts_of(record, 1, machine);
  EXPECT_EQ(parts.matrices_s, 0);
  EXPECT_EQ(parts.exponentials_s, 0);
  EXPECT_EQ(parts.attention_s, 1 << bench::kAttention);
  EXPECT_EQ(parts.choice_s, (1 << bench::kListLargest) + 0.25);
  EXPECT_EQ(parts.rows_s, (1 << bench::kQuantizeRows) + (1 << bench::kLayerNorm) + (1 << bench::kEmbed) +
                              (1 << bench::kFinishFine) + (1 << bench::kRecurrence));
  record.kernels[bench::kLogitSums].exponentials = 1000;
  record.kernels[bench::kOutputBlock].exponentials = 1000;
  EXPECT_DOUBLE_EQ(bench::parts_of(record, 1, machine).exponentials_s, 2000 / machine.exponentials_per_s().per_s);
}

TEST_F(Bench, RunsOnSeveralThreadsWhereItWasBuiltWithThem) {
  const Outcome outcome = bench({converted_model("g2p"), "--json", "--seconds", "0", "--repetitions", "1", "--measure",
      "speed,breakdown,bounds", "--beam-size", "2", "--batch", "3", "--threads", "2"});
  ThreadPool pool;
  const std::string problem = pool.start(2);
  if (!problem.empty()) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "goldcrest-bench: " + problem + "\n");
    return;
  }
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["threads"], 2);
  EXPECT_GT(double{report["cases"][0]["tokens_per_s"]}, 0);
  EXPECT_GT(double{report["cases"][0]["bound"]["tokens_per_s"]}, 0);
  EXPECT_FALSE(report["cases"][0].contains("kernels"));  // kernels are timed only on one thread
}

TEST_F(Bench, HearsClipsOfTheWantedLength) {
  const Arguments brief = {
      "--seconds", "0", "--repetitions", "1", "--warm-ups", "0", "--beam-size", "2", "--batch", "3"};
  const auto heard = [&](const std::string& family, const Arguments& arguments) {
    const Arguments all = concat({random_speech_model(family), "--json"}, concat(brief, arguments));
    return Json::parse(with_status(0, bench(all)).out);
  };
  const Json report = heard("moonshine", {"--audio", "2", "--measure", "speed,bounds"}), measured = report["cases"][0];
  EXPECT_EQ(report["source_tokens"], 82);  // rows of 2 s
  EXPECT_EQ(report["target_tokens"], 6);   // 3 a second
  EXPECT_EQ(report["audio_seconds"], 2.0);
  EXPECT_DOUBLE_EQ(double{measured["real_time_factor"]}, double{measured["run"]["median_s"]} / 6);
  EXPECT_DOUBLE_EQ(double{measured["bound"]["encode_share"]},
      double{measured["bound"]["encode"]["seconds"]} / double{measured["encode"]["median_s"]});
  EXPECT_GT(double{measured["bound"]["decode"]["seconds"]}, 0);
  // A window of a second, and a prompt that no length counts.
  const Json window = heard("whisper", {"--audio", "0.5", "--target", "4"});
  EXPECT_EQ(window["source_tokens"], 50);
  EXPECT_FALSE(window.contains("breakdown"));
  EXPECT_TRUE(window.contains("open"));
  const std::string model = random_speech_model("moonshine");
  const Outcome table = bench(concat({model, "--measure", "speed,bounds"}, brief));
  EXPECT_TRUE(has(table.out, "10.0 s of sound, encoding included"));
  const auto refuse = [&](const Arguments& arguments, const std::string& message) {
    EXPECT_TRUE(has(with_status(1, bench(arguments)).err, message));
  };
  refuse({model, "--source", "3"}, "--source: the model takes samples; use --audio");
  refuse({model, "--audio", "60"}, "--audio: the model hears at most 30 s at once");
  refuse({converted_model("g2p"), "--audio", "2"}, "--audio: the model takes no samples");
}

TEST_F(Bench, TellsTheSpreadOfEveryTime) {
  const Json report = bench_json({"--beam-size", "2", "--batch", "3"});
  size_t n = 0;
  const auto expect_spread = [&](const Json& value) {
    EXPECT_TRUE(value.is_number() && double{value} >= 0) << value;
    ++n;
  };
  for (const char* part : {"full", "structure", "first_token", "first_sentence"})
    expect_spread(report["open"][part]["spread"]);
  const Json& measured = report["cases"][0];
  for (const char* part : {"encode", "run"}) expect_spread(measured[part]["spread"]);
  for (const char* part : {"encode", "decode"}) expect_spread(measured["kernels"][part]["spread"]);
  const Json& breakdown = report["breakdown"];
  for (const char* part : {"encoder_embed_spread", "decoder_memory_spread", "output_spread"})
    expect_spread(breakdown[part]);
  for (const char* stack : {"encoder_layer_spread", "decoder_layer_spread"})
    for (const Json& spread : breakdown[stack]) expect_spread(spread);
  for (const Json& reading : report["machine"]["reading"]) expect_spread(reading["spread"]);
  expect_spread(report["machine"]["macs_spread"]);
  EXPECT_EQ(report["spreads"]["timings"], n);
  EXPECT_LE(report["spreads"]["large"], n);
  EXPECT_GE(report["spreads"]["largest"], report["open"]["full"]["spread"]);
}

TEST_F(Bench, ListsTheKernelsThatRunHereAndForcesOne) {
  std::vector<std::string> names;
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) names.push_back(goldcrest_kernels_at(i));
  const Outcome list = bench({"--list-kernels"});
  EXPECT_EQ(lines_of(list.out), names);
  EXPECT_EQ(list.err, "goldcrest-bench: takes " + names[0] + ": the best that this CPU runs\n");
  EXPECT_EQ(bench_json({"--measure", "open", "--kernels", "reference"})["kernels"], "reference");
}

TEST_F(Bench, FitsTheUsualLengthsToTheModelAndRefusesTooLongOnes) {
  const Json report = bench_json({"--measure", "speed", "--beam-size", "1", "--batch", "1"});
  EXPECT_EQ(report["source_tokens"], 32);
  EXPECT_EQ(report["target_tokens"], 63);  // 64 positions, one of which is for the end token
  const Outcome outcome = with_status(1, bench({converted_model("g2p"), "--target", "64", "--measure", "speed"}));
  EXPECT_TRUE(has(outcome.err, "limits.max_target_tokens"));
}

TEST_F(Bench, NamesWhatIsWrong) {
  const Outcome missing = with_status(1, bench({"missing.gcst"}));
  EXPECT_EQ(missing.err, "goldcrest-bench: missing.gcst: No such file or directory\n");
  EXPECT_EQ(bench({}).status, 2);
  EXPECT_EQ(bench({converted_model("g2p"), "--measure", "nonsense"}).status, 2);
  const Outcome table = with_status(1, bench({converted_model("g2p"), "--kernels", "nonsense"}));
  EXPECT_TRUE(has(table.err, "no such table"));
}
}}  // namespace goldcrest::test
