// SPDX-License-Identifier: Apache-2.0
// Prints modelled times as rows of boards/predictions.csv, and where the cycles go:
//
//   model_cycles TABLE CORE BYTES_A_CYCLE FOLDER/MODEL.BEAM...   translations that model_trace.cc traced
//   model_cycles TABLE CORE [PREFIX]                             the words that word_trace.cc traced, on a Cortex-M
//   model_cycles --counted CORE                                  fails if benchmark_firmware's console counts others
//
// With a TABLE other than - it prints only the rows that are missed, and fails if there are any. A translation may be
// 1 % slower than its row, and one percent farther from its bound.
#include <iostream>
#include <unordered_map>
#include "arm_cycles/core.h"
#include "support/program.h"

namespace arm_cycles { namespace {
struct Band {
  double low, middle, high;
};

// The models leave out cache misses (except for weights that do not fit), mispredicted branches and the operating
// system. So silicon is more likely slower than faster.
constexpr double kFaster = 1.25, kSlower = 1.5;

struct Machine {
  const char *core, *name;
  double hertz;
  double cache_bytes;  // Raspberry Pi: the share of the last caches that one core uses
  Band bytes_a_cycle;  // microcontroller: of weights
};

// The H743 reads a flash word of 32 bytes, a cache line, in LATENCY + 1 cycles of its bus and transfers it in four
// (RM0433). LATENCY is 7 after reset and 4 at 480 MHz, where the bus has half the CPU's clock. The RP2350's cache reads
// 8 bytes, over one data line in 96 cycles of the flash's clock, over four in 28. The flash's clock is the CPU's
// divided by 2 to 12 (RP2350 datasheet). The Ensemble's SRAM0 has a bus of 64 bits (Alif, "RAM Regions").
constexpr Machine kMachines[] = {{"A53", "Raspberry Pi 3", 1.2e9, 512 << 10, {}},
    {"A72", "Raspberry Pi 4", 1.5e9, 1 << 20, {}}, {"A76", "Raspberry Pi 5", 2.4e9, (512 + 2048) << 10, {}},
    {"M7", "nucleo-h743zi", 64e6, 0, {2.0, 2.7, 3.2}}, {"M7", "nucleo-h743zi at 480 MHz", 480e6, 0, {1.2, 1.8, 2.5}},
    {"M33", "rpi-pico2", 150e6, 0, {0.007, 0.02, 0.042}},
    {"M33", "rpi-pico2 with four lines", 150e6, 0, {0.09, 0.14, 0.25}},
    {"M55", "Alif Ensemble E7", 400e6, 0, {1.0, 2.0, 4.0}}};

// The instructions of a word: benchmark_firmware's mean of five, counted in QEMU, with GCC 12.2.
const std::map<std::string, std::map<int, double>> kInstructions = {{"M7", {{1, 14005800}, {4, 24783120}}},
    {"M33", {{1, 14276350}, {4, 25334150}}}, {"M55", {{1, 2621594}, {4, 5247219}}}};
constexpr Band kCyclesOfM33 = {1.0, 1.25, 1.6};  // a guess: it issues one instruction a cycle; some take two or three

// The bytes of weights that a word's calls read, for examples/models/g2p. A matrix of n outputs and k inputs has
// n * (k + 12) bytes. A word takes 5.2 passes over the encoder with two rows at a time. Greedy search takes 9.6
// positions, beam 4 takes 8.8.
double weight_bytes(int beam) {
  constexpr double kEncoder = 3 * (4 * 128 * 140 + 512 * 140 + 128 * 524) + 2 * 256 * 140;
  constexpr double kPosition = 2 * (6 * 128 * 140 + 512 * 140 + 128 * 524) + 80 * 140;
  return 5.2 * kEncoder + (beam == 1 ? 9.6 : 8.8) * kPosition;
}

// The time of a part of the work, and the least that multipliers or memory need. A call takes the cycles of the core's
// model, or those of its bytes from memory if they are more; none if the bytes of all calls fit the caches.
struct Time {
  double cycles = 0, multiply_bound = 0, memory_bound = 0;
  std::map<std::string, double> by_kernel;
};

// The table's rows: what is predicted, then the figures.
class Rows {
 public:
  explicit Rows(const std::string& table) : checks_(table != "-") {
    std::ifstream file(checks_ ? table : "/dev/null");
    if (!file) throw std::runtime_error(table + ": cannot be read");
    for (std::string line; std::getline(file, line);) {
      size_t end = 0;
      for (int i = 0; i < 6 && end < line.size(); ++i) end = line.find(',', end) + 1;
      rows_[line.substr(0, end)] = line.substr(end);
    }
  }

  // percent: of the bound; for a word, whose row must be equal, 0
  void add(const Machine& machine, const std::string& what, const Band& band, double percent) {
    std::ostringstream key;
    key << machine.name << ",Cortex-" << machine.core << ',' << machine.hertz / 1e6 << ',' << what << ',';
    std::string figures;
    for (const double figure : {band.middle, band.low, band.high}) {
      char text[32];
      std::snprintf(text, sizeof text, figure < 100 ? "%.3g," : "%.0f,", figure);
      figures += text;
    }
    if (percent > 0) figures += std::to_string(static_cast<int>(std::lround(percent)));
    const std::string& row = rows_[key.str()];
    bool holds = checks_ && row == figures;
    if (checks_ && percent > 0 && !row.empty()) {
      const long last = std::stol(row.substr(row.rfind(',') + 1));
      holds = band.middle >= 0.99 * std::stod(row) && std::lround(percent) >= last - 1;
    }
    if (checks_ && !holds) hold = false;
    if (!holds) std::printf("%s%s%s\n", key.str().c_str(), figures.c_str(), checks_ ? " is not the table's row" : "");
  }

  void print_parts(const char* what, const Time& time, const Machine& machine) const {
    if (checks_) return;
    std::printf("# %s: %.2f ms", what, 1e3 * time.cycles / machine.hertz);
    for (const auto& [kernel, cycles] : time.by_kernel)
      std::printf(", %s %.1f %%", kernel.c_str(), 100 * cycles / time.cycles);
    std::printf("\n");
  }

  bool hold = true;
 private:
  bool checks_;
  std::map<std::string, std::string> rows_;
};

struct Section {
  std::string kernel;
  double macs, bytes, cycles;  // cycles: of the core, without waiting for memory
};

std::map<std::string, std::vector<Section>> read_parts(const std::string& prefix, const Core& core) {
  const TraceFile file(prefix, core.decoder);
  std::map<std::string, std::vector<Section>> parts;
  std::unordered_map<std::u32string_view, int64_t> known;  // many sections run the same instructions
  file.for_sections([&](std::istream& words, size_t section) {
    std::string part, kernel;
    double macs = 0, bytes = 0;
    words >> part >> kernel >> macs >> bytes;
    const auto [cycles, is_new] = known.emplace(file.blocks(section), 0);
    if (is_new) cycles->second = cycles_of(file.trace(section), core);
    parts[part].push_back({kernel, macs, bytes, static_cast<double>(cycles->second)});
  });
  return parts;
}

Time time_of(const std::vector<Section>& part, double peak, double cache_bytes, double bytes_a_cycle) {
  Time time;
  double bytes = 0;
  for (const Section& section : part) bytes += section.bytes;
  const double bytes_from_memory = bytes <= cache_bytes ? 0 : 1 / bytes_a_cycle;
  for (const Section& section : part) {
    const double memory = section.bytes * bytes_from_memory, cycles = std::max(section.cycles, memory);
    time.multiply_bound += section.macs / peak;
    time.memory_bound += memory;
    time.by_kernel[section.kernel] += cycles;
    time.cycles += cycles;
  }
  return time;
}

void add_translation(const Machine& machine, double bytes_a_cycle, const std::string& prefix, Rows& rows) {
  const Core& core = core_named(machine.core);
  constexpr double kTargetTokens = 64;  // model_trace.cc traces the middle position
  const size_t name = prefix.rfind('/') + 1, dot = prefix.rfind('.');
  auto parts = read_parts(prefix, core);
  const Time encode = time_of(parts.at("encode"), core.peak, machine.cache_bytes, bytes_a_cycle);
  const Time step = time_of(parts.at("decode"), core.peak, machine.cache_bytes, bytes_a_cycle);
  rows.print_parts("encoding", encode, machine);
  rows.print_parts(step.memory_bound > step.multiply_bound ? "step, bound by memory" : "step", step, machine);
  const double speed = machine.hertz / (encode.cycles / kTargetTokens + step.cycles);
  rows.add(machine, prefix.substr(name, dot - name) + "," + prefix.substr(dot + 1) + ",tokens/s",
      {speed / kSlower, speed, speed * kFaster}, 100 * std::max(step.memory_bound, step.multiply_bound) / step.cycles);
}

// The low end assumes that reading overlaps with computing; the middle and the high end add the two times.
void add_word(const Machine& machine, int beam, const Band& cycles, Rows& rows) {
  const double instructions = kInstructions.at(machine.core).at(beam), bytes = weight_bytes(beam);
  const double unit = 1e3 / machine.hertz;
  rows.add(machine, "g2p," + std::to_string(beam) + ",ms a word",
      {std::max(instructions * cycles.low, bytes / machine.bytes_a_cycle.high) * unit,
          (instructions * cycles.middle + bytes / machine.bytes_a_cycle.middle) * unit,
          (instructions * cycles.high + bytes / machine.bytes_a_cycle.low) * unit},
      0);
}

// Cycles an instruction of the traced word, of two digits after the point.
Band word_cycles(const std::string& name, const std::string& prefix, int beam) {
  const Core& core = core_named(name);
  const Trace trace = TraceFile(prefix, core.decoder).trace(beam == 1 ? 0 : 1);
  const double percent = 100.0 * static_cast<double>(cycles_of(trace, core)) / static_cast<double>(trace.steps.size());
  const double cycles = std::round(percent) / 100;
  return {cycles / kFaster, cycles, cycles * kSlower};
}

// Compares thousands of instructions, the last figure of a line such as "greedy: whole search of one word  83985 2625".
bool counts_as_known(const std::string& core) {
  int found = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find(": whole search of one word ") == std::string::npos) continue;
    const int beam = line.find("greedy") != std::string::npos ? 1 : 4;
    const double known = kInstructions.at(core).at(beam), counted = 1e3 * std::stod(line.substr(line.rfind(' ')));
    if (std::abs(counted / known - 1) <= 0.05) ++found;  // compilers differ by less
    std::printf("%s, beam %d: %.0f instructions; the predictions come from %.0f\n", core.c_str(), beam, counted, known);
  }
  return found == 2;
}

bool run(const std::vector<std::string>& words) {
  if (words.at(0) == "--counted") return counts_as_known(words.at(1));
  Rows rows(words[0]);
  for (const Machine& machine : kMachines) {
    if (words.at(1) != machine.core) continue;
    for (size_t i = 3; i < words.size(); ++i) add_translation(machine, std::stod(words[2]), words[i], rows);
    if (machine.cache_bytes > 0) continue;
    for (const int beam : {1, 4})
      add_word(machine, beam, words.size() > 2 ? word_cycles(words[1], words[2], beam) : kCyclesOfM33, rows);
  }
  return rows.hold;
}
}}  // namespace arm_cycles

int main(int argc, char** argv) {
  const auto run = [&] { return arm_cycles::run({argv + 1, argv + argc}) ? 0 : 1; };
  return goldcrest::test::report_errors("model_cycles", run);
}
