// SPDX-License-Identifier: Apache-2.0
// goldcrest-predictions: the committed table is its output; what it prints next to measurements, and what it refuses.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "programs/process.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

using Json = nlohmann::json;

Outcome predictions(const Arguments& arguments) { return run(GOLDCREST_PREDICTIONS_PROGRAM, arguments); }

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The parts of goldcrest-bench's output that matter here.
Json bench_report() {
  const Json shape = {{"encoder_layers", 4},  {"decoder_layers", 2},       {"decoder_d_model", 256},
                      {"decoder_d_ff", 1024}, {"target_vocab_size", 6000}, {"weight_bits", 8}};
  const Json cases = {{{"beam_size", 1}, {"batch", 1}, {"tokens_per_s", 1000.0}},
                      {{"beam_size", 4}, {"batch", 1}, {"tokens_per_s", 100.0}},
                      {{"beam_size", 4}, {"batch", 8}, {"tokens_per_s", 500.0}}};
  return {{"schema_version", 1},
          {"program", "goldcrest-bench"},
          {"host", {{"board", "Raspberry Pi 4 Model B Rev 1.4"}, {"cpu", "Cortex-A72"}, {"clock_hz", 1800000000}}},
          {"shape", shape},
          {"kernels", "arm_neon"},
          {"threads", 1},
          {"source_tokens", 32},
          {"target_tokens", 64},
          {"cases", cases}};
}

Json firmware_report(const std::string& board, uint32_t ticks_per_second) {
  return {{"schema_version", 1},
          {"program", "benchmark_firmware"},
          {"host", {{"board", board}, {"cpu", "Cortex-M7"}, {"cpus", 1}}},
          {"kernels", "cortexm_dsp"},
          {"ticks_per_second", ticks_per_second},
          {"ticks_count", "time"},
          {"parts",
           {{{"name", "greedy: whole search of one word"}, {"ticks", 64000 * 200}, {"token_ticks", 1}},
            {{"name", "beam 4: whole search of one word"}, {"ticks", 64000 * 700}, {"token_ticks", 1}}}}};
}

class Predictions : public testing::Test {
 protected:
  // Runs on a file with this text, under the name that failure() expects.
  Outcome of(const std::string& text, Arguments more = {}) {
    std::ofstream(folder_ / "measured.json") << text;
    more.insert(more.begin(), folder_ / "measured.json");
    return predictions(more);
  }
  std::string failure(const std::string& what) const {
    return "goldcrest-predictions: " + (folder_ / "measured.json").string() + ": " + what + "\n";
  }

  const TemporaryFolder folder_;
};

TEST_F(Predictions, OfTheCommittedTable) {
  const Outcome outcome = predictions({"--table"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, file_text(GOLDCREST_SOURCE_DIR "/boards/predictions.csv"))
      << "build/host/examples/goldcrest-predictions --table > boards/predictions.csv";
}

TEST_F(Predictions, BesideThoseOfAComputer) {
  const Outcome outcome = of(bench_report().dump());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "Raspberry Pi 4, Cortex-A72 at 1500 MHz; measured with kernels arm_neon\n"
            "                 predicted  band                  measured             ratio  the band\n"
            "enfr, beam 1           926  617 to 1158               1000  tokens/s    1.08  inside\n"
            "enfr, beam 4           445  297 to 556                 100  tokens/s    0.22  outside\n"
            "This one's clock is 1800 MHz; the prediction is of 1500.\n");
  Json longer = bench_report();
  longer["target_tokens"] = 100;
  longer["host"]["clock_hz"] = 0;
  EXPECT_TRUE(
      of(longer.dump())
          .out.ends_with(
              "outside\nThe prediction is of 32 source and 64 target tokens, the usual ones of goldcrest-bench.\n"));
  longer["host"]["board"] = "";
  EXPECT_TRUE(
      of(longer.dump(), {"--machine", "Raspberry Pi 3"}).out.starts_with("Raspberry Pi 3, Cortex-A53 at 1200 MHz;"));
}

TEST_F(Predictions, BesideThoseOfAConsolesLog) {
  const std::string log = "Goldcrest 0.1.0 on nucleo-h743zi, ...\nMeans over 5 words\n" +
                          firmware_report("nucleo-h743zi", 64000000).dump() + "\n";
  const Outcome outcome = of(log);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out,
      "nucleo-h743zi, Cortex-M7 at 64 MHz, weights in flash, as board.c leaves it; measured with kernels cortexm_dsp\n"
      "                 predicted  band                  measured             ratio  the band\n"
      "g2p, beam 1            202  123 to 296                 200  ms a word   0.99  inside\n"
      "g2p, beam 4            376  263 to 557                 700  ms a word   1.86  outside\n");
  const Outcome faster = of(firmware_report("nucleo-h743zi", 480000000).dump());
  EXPECT_TRUE(faster.out.starts_with("nucleo-h743zi at 480 MHz, Cortex-M7 at 480 MHz, weights in flash;"))
      << faster.out;
}

TEST_F(Predictions, OfOtherInstructionsAreFound) {
  Json report = firmware_report("mps2-an500", 25000000);
  report["ticks_count"] = "instructions";
  const Outcome outcome = of(report.dump());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(
      outcome.out.starts_with("Cortex-M7 in an emulator that counts instructions; measured with kernels cortexm_dsp\n"))
      << outcome.out;
  EXPECT_TRUE(
      outcome.out.ends_with("The predictions come from other counts: figures.cc is to be brought up to date.\n"))
      << outcome.out;
}

TEST_F(Predictions, SayWhatIsWrong) {
  const Outcome missing = predictions({"missing.json"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "goldcrest-predictions: missing.json: cannot be read\n");
  EXPECT_EQ(of("no").err, failure("no JSON; expected that of goldcrest-bench --json or the log of benchmark_firmware"));
  EXPECT_EQ(of("{\"schema_version\":2}").err, failure("schema_version is not 1"));
  EXPECT_EQ(of("{").status, 1);
  EXPECT_EQ(of("{\"schema_version\":1}").status, 1);
  Json report = bench_report();
  report["shape"]["target_vocab_size"] = 6001;
  EXPECT_EQ(of(report.dump()).err, failure("nothing was predicted of a model of this shape"));
  report = bench_report();
  report["threads"] = 4;
  EXPECT_EQ(of(report.dump()).err,
            failure("nothing was predicted of these cases; --beam 1,4 --batch 1 --threads 1 has what was"));
  report = firmware_report("rpi-pico2", 125000000);
  const std::string machines =
      "  Raspberry Pi 3\n  Raspberry Pi 4\n  Raspberry Pi 5\n  nucleo-h743zi\n  nucleo-h743zi at 480 MHz\n  rpi-pico2\n"
      "  rpi-pico2 with four lines\n  Alif Ensemble E7\n";
  EXPECT_EQ(of(report.dump()).err,
            failure("nothing was predicted of \"rpi-pico2\"; --machine NAME compares with one of\n" + machines));
  EXPECT_EQ(of(report.dump(), {"--machine", "Raspbery Pi 4"}).err,
            failure("nothing was predicted of \"Raspbery Pi 4\"; --machine NAME compares with one of\n" + machines +
                    "did you mean \"Raspberry Pi 4\"?\n"));
  EXPECT_EQ(of(report.dump(), {"--machine", "Pico"}).err,
            failure("nothing was predicted of \"Pico\"; --machine NAME compares with one of\n" + machines));
  EXPECT_EQ(predictions({}).status, 2);
  EXPECT_EQ(predictions({"--nonsense"}).status, 2);
}

}  // namespace
}  // namespace goldcrest::test
