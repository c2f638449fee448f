// SPDX-License-Identifier: Apache-2.0
// Prints multiply-accumulates a cycle of traced linear layers on the models of cores, ours beside others'.
//
//   arm_cycles PREFIX CORE
//   arm_cycles PREFIX CORE FLOORS
//
// PREFIX.names has one line for each traced section: who, table, n, k, rows. Sections of the same table and shape are
// compared: ours leads, or they do, if it is so on the model and with each latency one cycle longer or shorter and with
// one issue slot less; else it is a tie. FLOORS has a line for each shape that must not fall below a figure: core,
// table, n, k, rows, figure; nothing else is printed then, and the program fails where one does.
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

std::map<Shape, Calls> read_calls(const std::string& prefix) {
  const TraceFile file(prefix);
  std::ifstream names(prefix + ".names");
  std::map<Shape, Calls> calls;
  size_t section = 0;
  for (std::string line; std::getline(names, line); ++section) {
    std::istringstream words(line);
    std::string who, table;
    int n = 0, k = 0, rows = 0;
    if (!(words >> who >> table >> n >> k >> rows) || section >= file.sections())
      throw std::runtime_error(prefix + ".names: does not fit the trace");
    calls[{table, n, k, rows}][who] = file.trace(section);
  }
  if (section != file.sections()) throw std::runtime_error(prefix + ".names: does not fit the trace");
  return calls;
}

std::string verdict(const Trace& our, const Trace& their, const Core& core) {
  std::set<Kind> kinds;
  for (const Trace* trace : {&our, &their}) {
    for (const Instruction& instruction : trace->instructions) kinds.insert(instruction.kind);
  }
  std::vector<Change> changes = {{}, {Kind::kNop, 0, -1}};
  for (const Kind kind : kinds) {
    changes.push_back({kind, 1, 0});
    changes.push_back({kind, -1, 0});
  }
  size_t ahead = 0, behind = 0;
  for (const Change& change : changes) {
    const int64_t ours = cycles_of(our, core, change), theirs = cycles_of(their, core, change);
    ahead += ours < theirs ? 1 : 0;
    behind += ours > theirs ? 1 : 0;
  }
  return ahead == changes.size() ? "ahead" : behind == changes.size() ? "behind" : "tie";
}

double rate(const Shape& shape, const Trace& trace, const Core& core) {
  const auto& [table, n, k, rows] = shape;
  return 1.0 * n * k * rows / static_cast<double>(cycles_of(trace, core, {}));
}

void print_core(const std::map<Shape, Calls>& calls, const Core& core) {
  std::printf("%s, at most %d\n", core.name.c_str(), core.peak);
  for (const auto& [shape, by_whom] : calls) {
    const auto& [table, n, k, rows] = shape;
    std::printf("  %-12s n %d k %4d rows %2d", table.c_str(), n, k, rows);
    const Trace& our = by_whom.at(kOurs);
    std::printf("  %s %6.2f", kOurs, rate(shape, our, core));
    for (const auto& [who, trace] : by_whom) {
      if (who == kOurs) continue;
      std::printf("  %s %6.2f %-6s", who.c_str(), rate(shape, trace, core), verdict(our, trace, core).c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

// Prints what lies below its floor. Throws std::runtime_error where a floor has no trace, or a core no floor.
bool floors_hold(const std::map<Shape, Calls>& calls, const Core& core, const std::string& path) {
  std::ifstream file(path);
  bool hold = true;
  int n_floors = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, table;
    int n = 0, k = 0, rows = 0;
    double floor = 0;
    if (line.starts_with('#') || !(words >> name >> table >> n >> k >> rows >> floor) || name != core.name) continue;
    const Shape shape = {table, n, k, rows};
    if (!calls.contains(shape)) throw std::runtime_error(line + ": not traced");
    const double found = rate(shape, calls.at(shape).at(kOurs), core);
    ++n_floors;
    if (found >= floor) continue;
    hold = false;
    std::printf("%s: only %.3f\n", line.c_str(), found);
  }
  if (n_floors == 0) throw std::runtime_error(path + ": no floor for " + core.name);
  return hold;
}

}  // namespace
}  // namespace arm_cycles

int main(int argc, char** argv) {
  using namespace arm_cycles;
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: arm_cycles PREFIX CORE [FLOORS]\n");
    return 2;
  }
  try {
    const std::map<Shape, Calls> calls = read_calls(argv[1]);
    const Core& core = core_named(argv[2]);
    if (argc == 4) return floors_hold(calls, core, argv[3]) ? 0 : 1;
    print_core(calls, core);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arm_cycles: %s\n", error.what());
    return 1;
  }
  return 0;
}
