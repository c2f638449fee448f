// SPDX-License-Identifier: Apache-2.0
// The report of goldcrest-bench, as text and as JSON, and the machine that it names.
#include <nlohmann/json.hpp>
#include "examples/bench/machine.h"
#include "examples/bench/report.h"
#include "host/wording.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Json = nlohmann::json;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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
  EXPECT_EQ(
      report["command"], std::string(GOLDCREST_BENCH_PROGRAM) + " " + model + " --json --seconds 0 --repetitions 1");
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
  std::ofstream(root / "proc/cpuinfo") << "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: "
                                          "1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n";
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
  const char* const arguments[] = {"bench", "a file.gcst", "it's", "", "--beam-size=1,4"};
  EXPECT_EQ(command_line(5, arguments), "bench 'a file.gcst' 'it'\\''s' '' --beam-size=1,4");
}
}}  // namespace goldcrest::test

// The spread of times and the warning about a noisy machine, computed from given times.
namespace bench { namespace {
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
  EXPECT_TRUE(goldcrest::test::has(text, "encode ms   spread    tokens/s   spread"));
  EXPECT_TRUE(goldcrest::test::has(text, "0.010   40.0 %      640000    0.0 %"));
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
  EXPECT_FALSE(goldcrest::test::has(report_text({}, report), "warning"));
}
}}  // namespace bench
