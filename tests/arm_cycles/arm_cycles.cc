// SPDX-License-Identifier: Apache-2.0
// Prints the multiply-accumulates a cycle of traced linear layers on models of cores, for our kernels and for others'.
//
//   arm_cycles PREFIX CORE BYTES_A_CYCLE
//   arm_cycles PREFIX CORE --floors FILE
//   arm_cycles PREFIX V1 --mca PROGRAM
//
// PREFIX.names has a line for each traced section: who, table, n, k, rows. The program compares sections of the same
// table and shape. A side leads if it leads in each of these: the model, each latency one cycle longer or shorter, and
// one issue slot less. Otherwise the result is a tie. Figures are printed for weights in the first cache, and for
// weights from memory, of which a core reads BYTES_A_CYCLE (0: not printed). FILE has a line for each shape that has a
// floor: core, table, n, k, rows, figure. With FILE the program prints only figures below their floor, and fails if
// there are any. There is no model of Neoverse V1 here. PROGRAM is an llvm-mca that knows it; it gets all instructions
// of a call in order. V1's floors are multiply-accumulates an instruction, which are printed next to llvm-mca's figure.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "arm_cycles/trace.h"

namespace arm_cycles {
namespace {

using Shape = std::tuple<std::string, int, int, int>;  // table, n, k, rows

using Calls = std::map<std::string, Trace>;  // by whose kernel

constexpr const char* kOurs = "ours";

// The words of a section's line.
struct Call {
  std::string who;
  Shape shape;
};

Call read_call(std::istream& words) {
  Call call;
  auto& [table, n, k, rows] = call.shape;
  words >> call.who >> table >> n >> k >> rows;
  return call;
}

std::map<Shape, Calls> read_calls(const std::string& prefix, const Core& core) {
  const TraceFile file(prefix, core.decoder);
  std::map<Shape, Calls> calls;
  file.for_sections([&](std::istream& words, size_t section) {
    const Call call = read_call(words);
    calls[call.shape][call.who] = file.trace(section);
  });
  return calls;
}

// Cycles of a call whose weights take at least `least` cycles to come.
int64_t cycles(const Trace& trace, const Core& core, const Change& change, int64_t least) {
  return std::max(cycles_of(trace, core, change), least);
}

std::string verdict(const Trace& our, const Trace& their, const Core& core, int64_t least) {
  std::set<Kind> kinds;
  for (const Trace* trace : {&our, &their}) {
    for (const Instruction& instruction : trace->instructions) kinds.insert(instruction.kind);
  }
  std::vector<Change> changes = {{}, {Kind::kNop, 0, -1}};
  for (const Kind kind : kinds) {
    changes.push_back({kind, 1, 0});
    changes.push_back({kind, -1, 0});
  }
  int sign = 0;
  for (const Change& change : changes) {
    const int64_t ours = cycles(our, core, change, least), theirs = cycles(their, core, change, least);
    const int now = ours < theirs ? 1 : ours > theirs ? -1 : 0;
    if (now == 0 || now == -sign) return "tie";
    sign = now;
  }
  return sign > 0 ? "ahead" : "behind";
}

double macs_of(const Shape& shape) {
  const auto& [table, n, k, rows] = shape;
  return 1.0 * n * k * rows;
}

double rate(const Shape& shape, const Trace& trace, const Core& core, int64_t least) {
  return macs_of(shape) / static_cast<double>(cycles(trace, core, {}, least));
}

double rate_an_instruction(const Shape& shape, const Trace& trace) {
  return macs_of(shape) / static_cast<double>(trace.steps.size());
}

void print_calls(const Shape& shape, const Calls& by_whom, const Core& core, int64_t least) {
  const Trace& our = by_whom.at(kOurs);
  std::printf("  %s %6.2f", kOurs, rate(shape, our, core, least));
  for (const auto& [who, trace] : by_whom) {
    if (who == kOurs) continue;
    std::printf("  %s %6.2f %-6s", who.c_str(), rate(shape, trace, core, least),
                verdict(our, trace, core, least).c_str());
  }
}

void print_core(const std::map<Shape, Calls>& calls, const Core& core, double bytes_a_cycle) {
  std::printf("%s, at most %d", core.name.c_str(), core.peak);
  if (bytes_a_cycle > 0) std::printf("; | with %.1f bytes a cycle from memory", bytes_a_cycle);
  std::printf("\n");
  for (const auto& [shape, by_whom] : calls) {
    const auto& [table, n, k, rows] = shape;
    std::printf("  %-20s n %d k %4d rows %2d", table.c_str(), n, k, rows);
    print_calls(shape, by_whom, core, 0);
    constexpr int kBytesPerOutput = 12;  // scale, bias, sum
    if (bytes_a_cycle > 0) {
      std::printf("  |");
      print_calls(shape, by_whom, core, static_cast<int64_t>(n * (k + kBytesPerOutput) / bytes_a_cycle));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

struct McaCycles {
  double simulated = 0, ports = 0;  // `ports`: as if no instruction waited for another
};

// Reads llvm-mca's prediction for the instructions in `file`.
McaCycles mca_cycles(const std::string& program, const std::string& file) {
  const std::string command =
      program + " -mtriple=aarch64 -mcpu=neoverse-v1 -mattr=+i8mm -iterations=1 -instruction-info=false " +
      "-resource-pressure=false " + file + " 2>/dev/null";
  std::FILE* const output = popen(command.c_str(), "r");
  McaCycles cycles;
  char line[256];
  while (output != nullptr && std::fgets(line, sizeof line, output) != nullptr) {
    std::sscanf(line, "Total Cycles: %lf", &cycles.simulated);
    std::sscanf(line, "Block RThroughput: %lf", &cycles.ports);
  }
  if (output == nullptr || pclose(output) != 0 || cycles.ports == 0) throw std::runtime_error(program + ": no cycles");
  return cycles;
}

void print_mca(const std::string& prefix, const std::string& program) {
  const TraceFile file(prefix, decode);
  std::printf(
      "V1 as llvm-mca sees it: multiply-accumulates a cycle simulated, as its ports allow, and an instruction\n");
  std::map<Shape, std::map<std::string, std::string>> lines;
  file.for_sections([&](std::istream& words, size_t section) {
    const auto [who, shape] = read_call(words);
    std::ofstream(prefix + ".s") << file.assembly(section);
    const double macs = macs_of(shape);
    char text[64];
    const McaCycles cycles = mca_cycles(program, prefix + ".s");
    std::snprintf(text, sizeof text, "%5.1f %5.1f %4.1f", macs / cycles.simulated, macs / cycles.ports,
                  rate_an_instruction(shape, file.trace(section)));
    lines[shape][who] = text;
  });
  for (const auto& [shape, by_whom] : lines) {
    const auto& [table, n, k, rows] = shape;
    std::printf("  %-20s n %d k %4d rows %2d", table.c_str(), n, k, rows);
    for (const auto& [who, text] : by_whom) std::printf("  %s %s", who.c_str(), text.c_str());
    std::printf("\n");
  }
}

// Returns the rates of our kernels: multiply-accumulates a cycle, or an instruction for V1.
std::map<Shape, double> our_rates(const std::string& prefix, const std::string& core_name) {
  std::map<Shape, double> rates;
  if (core_name == "V1") {
    const TraceFile file(prefix, decode);
    file.for_sections([&](std::istream& words, size_t section) {
      const Call call = read_call(words);
      if (call.who == kOurs) rates[call.shape] = rate_an_instruction(call.shape, file.trace(section));
    });
    return rates;
  }
  const Core& core = core_named(core_name);
  for (const auto& [shape, by_whom] : read_calls(prefix, core)) rates[shape] = rate(shape, by_whom.at(kOurs), core, 0);
  return rates;
}

// Prints the rates below their floors. Throws std::runtime_error if a floor has no trace or a core has no floor.
bool floors_hold(const std::map<Shape, double>& rates, const std::string& core, const std::string& path) {
  std::ifstream file(path);
  bool hold = true;
  int n_floors = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, table;
    int n = 0, k = 0, rows = 0;
    double floor = 0;
    if (line.starts_with('#') || !(words >> name >> table >> n >> k >> rows >> floor) || name != core) continue;
    const auto found = rates.find({table, n, k, rows});
    if (found == rates.end()) throw std::runtime_error(line + ": not traced");
    ++n_floors;
    if (found->second >= floor) continue;
    hold = false;
    std::printf("%s: only %.3f\n", line.c_str(), found->second);
  }
  if (n_floors == 0) throw std::runtime_error(path + ": no floor for " + core);
  return hold;
}

}  // namespace
}  // namespace arm_cycles

int main(int argc, char** argv) {
  using namespace arm_cycles;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) {
    std::fprintf(stderr, "usage: arm_cycles PREFIX CORE BYTES_A_CYCLE | --floors FILE\n");
    return 2;
  }
  try {
    if (words[2] == "--mca") return print_mca(words[0], words.at(3)), 0;
    if (words[2] == "--floors") return floors_hold(our_rates(words[0], words[1]), words[1], words.at(3)) ? 0 : 1;
    const Core& core = core_named(words[1]);
    print_core(read_calls(words[0], core), core, std::stod(words[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arm_cycles: %s\n", error.what());
    return 1;
  }
  return 0;
}
