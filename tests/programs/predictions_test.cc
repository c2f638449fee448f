// SPDX-License-Identifier: Apache-2.0
// goldcrest-predictions: the committed table is its output; what it prints next to measurements, and what it refuses.
// Then the report of goldcrest-bench that it reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "examples/bench/machine.h"
#include "examples/bench/report.h"
#include "programs/models.h"
#include "programs/process.h"
#include "sources/messages/messages.h"
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

// The JSON of goldcrest-bench and benchmark_firmware. Every field is on the page, and the fields about the measured
// machine have the right values.

// Expects the names of fields at all levels of the JSON.
void expect_on_page(const Json& json, const std::string& page) {
  for (const auto& [name, value] : json.items()) {
    std::string documented = name;
    const size_t spread = name.rfind("_spread");  // the page says of a breakdown "the same with `_spread`"
    if (spread != std::string::npos && page.find('`' + name + '`') == std::string::npos)
      documented = name.substr(0, spread) + "_s";
    if (!json.is_array()) {
      EXPECT_NE(page.find('`' + documented + '`'), std::string::npos) << name;
    }
    if (value.is_structured()) expect_on_page(value, page);
  }
}

const std::string kPage = file_text(GOLDCREST_SOURCE_DIR "/examples/bench/README.md");

TEST(BenchJson, HasNoFieldThatIsNotOnThePage) {
  const std::string model = converted_model("g2p");
  const Outcome outcome = run(GOLDCREST_BENCH_PROGRAM, {model, "--json", "--seconds", "0", "--repetitions", "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json report = Json::parse(outcome.out);
  expect_on_page(report, kPage);
  EXPECT_EQ(report["schema_version"], 1);
  EXPECT_EQ(report["program"], "goldcrest-bench");
  EXPECT_EQ(report["command"],
            std::string(GOLDCREST_BENCH_PROGRAM) + " " + model + " --json --seconds 0 --repetitions 1");
  EXPECT_EQ(report["shape"]["decoder_d_ff"], 512);
  EXPECT_EQ(report["shape"]["target_vocab_size"], 73);
  EXPECT_EQ(report["weights_hash"].get<std::string>().size(), 16u);
  EXPECT_FALSE(report["host"]["architecture"].get<std::string>().empty());
  EXPECT_GT(report["host"]["cpus"], 0);
  EXPECT_EQ(report["compiler"], bench::compiler_name());
}

// The firmware's digits and names are masked in the session that the boards' tests compare.
TEST(BenchJson, OfFirmwareIsOnThePage) {
  std::string session = file_text(GOLDCREST_SOURCE_DIR "/tests/boards/sessions/benchmark_firmware.expected");
  std::string line = session.substr(session.find("\n{") + 1);
  for (size_t at = 0; (at = line.find(":N", at)) != std::string::npos;) line.replace(at, 2, ":1");
  const Json report = Json::parse(line);
  expect_on_page(report, kPage);
  EXPECT_EQ(report["parts"].size(), 9u);
  EXPECT_EQ(report["shape"]["weight_bits"], 8);
}

TEST(Host, IsWhatLinuxTells) {
  const TemporaryFolder root;
  for (const char* folder : {"proc/device-tree", "sys/devices/system/cpu/cpu1/cpufreq"})
    std::filesystem::create_directories(root / folder);
  std::ofstream(root / "proc/device-tree/model") << "Orange Pi 5" << '\0';
  std::ofstream(root / "proc/cpuinfo")
      << "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU "
         "part\t: 0xd0b\n";
  std::ofstream(root / "sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq") << "2256000\n";
  const bench::Host host = bench::host_of(root.path().string());
  EXPECT_EQ(host.board, "Orange Pi 5");
  EXPECT_EQ(host.cpu, "Cortex-A55 + Cortex-A76");
  EXPECT_EQ(host.cpus, 2u);
  EXPECT_EQ(host.clock_hz, 2256000000u);
}

TEST(Host, NamesWhatItDoesNotKnow) {
  const TemporaryFolder root;
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/cpuinfo") << "processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0x022\n";
  const bench::Host host = bench::host_of(root.path().string());
  EXPECT_EQ(host.board, "");
  EXPECT_EQ(host.cpu, "implementer 0x61, part 0x22");
  EXPECT_EQ(host.clock_hz, 0u);
}

TEST(Command, IsAsAShellReadsIt) {
  const char* const arguments[] = {"bench", "a file.gcst", "it's", "", "--beam=1,4"};
  EXPECT_EQ(converter::command_line(5, arguments), "bench 'a file.gcst' 'it'\\''s' '' --beam=1,4");
}

}  // namespace
}  // namespace goldcrest::test

// The spread of times and the warning about a noisy machine, computed from given times.
namespace bench {
namespace {

TEST(Spread, IsTheQuartileRangeOverTheMedian) {
  EXPECT_EQ(spread_of({7}), 0);
  EXPECT_EQ(spread_of({0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(spread_of({1, 3}), 0.5);
  EXPECT_DOUBLE_EQ(spread_of({5, 1, 3, 2, 4}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(spread_of({10, 10, 10, 10, 1000}), 0) << "a disturbed one does not count";
  EXPECT_DOUBLE_EQ(timing_of({1, 3, 2, 4}).spread, 1.5 / 2.5);
}

// A report with one case: encoding takes 10, 10, 10, 14, 14 us, the whole search 100 us each time.
Report one_case() {
  Case measured;
  measured.speed.beam_size = measured.speed.batch = 1;
  measured.speed.encode = timing_of({10e-6, 10e-6, 10e-6, 14e-6, 14e-6});
  measured.speed.run = timing_of({100e-6, 100e-6, 100e-6});
  measured.speed.tokens_per_s = 640000;
  measured.speed.position_s = 1e-6;
  Report report;
  report.kernels = "reference";
  report.cases.push_back(measured);
  return report;
}

TEST(Report, CountsLargeSpreadsInItsLastLine) {
  const std::string text = report_text({}, one_case());
  EXPECT_NE(text.find("encode ms   spread    tokens/s   spread"), std::string::npos) << text;
  EXPECT_NE(text.find("0.010   40.0 %      640000    0.0 %"), std::string::npos) << text;
  const std::string warning =
      "warning: 1 of 2 timings have a spread above 10 %, the largest 40 %: other work disturbs this machine, and such "
      "figures are not to be trusted\n";
  EXPECT_EQ(spread_warning(one_case()), warning);
  EXPECT_TRUE(text.ends_with(warning)) << text;
}

TEST(Report, OfAQuietMachineHasNoWarning) {
  Report report = one_case();
  report.cases[0].speed.encode = timing_of({10e-6, 10.5e-6, 11e-6});
  EXPECT_EQ(spread_warning(report), "");
  EXPECT_EQ(report_text({}, report).find("warning"), std::string::npos);
}

}  // namespace
}  // namespace bench
