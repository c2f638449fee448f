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

struct Pair {
  const Trace* ours = nullptr;
  const Trace* theirs = nullptr;
};

std::map<Shape, Pair> pair_up(const std::string& prefix, const std::vector<Trace>& traces) {
  std::ifstream names(prefix + ".names");
  std::map<Shape, Pair> pairs;
  size_t section = 0;
  for (std::string line; std::getline(names, line); ++section) {
    std::istringstream words(line);
    std::string who, table;
    int n = 0, k = 0, rows = 0;
    if (!(words >> who >> table >> n >> k >> rows) || section >= traces.size())
      throw std::runtime_error(prefix + ".names: does not fit the trace");
    Pair& pair = pairs[{table, n, k, rows}];
    (who == "ours" ? pair.ours : pair.theirs) = &traces[section];
  }
  if (section != traces.size()) throw std::runtime_error(prefix + ".names: does not fit the trace");
  return pairs;
}

std::string verdict(const Pair& pair, const Core& core) {
  std::set<Kind> kinds;
  for (const Trace* trace : {pair.ours, pair.theirs}) {
    for (const Instruction& instruction : trace->instructions) kinds.insert(instruction.kind);
  }
  std::vector<Change> changes = {{}, {Kind::kNop, 0, -1}};
  for (const Kind kind : kinds) {
    changes.push_back({kind, 1, 0});
    changes.push_back({kind, -1, 0});
  }
  size_t ahead = 0, behind = 0;
  for (const Change& change : changes) {
    const int64_t ours = cycles_of(*pair.ours, core, change), theirs = cycles_of(*pair.theirs, core, change);
    ahead += ours < theirs ? 1 : 0;
    behind += ours > theirs ? 1 : 0;
  }
  return ahead == changes.size() ? "ahead" : behind == changes.size() ? "behind" : "tie";
}

double rate(const Shape& shape, const Trace& trace, const Core& core) {
  const auto& [table, n, k, rows] = shape;
  return 1.0 * n * k * rows / static_cast<double>(cycles_of(trace, core, {}));
}

void print_core(const std::map<Shape, Pair>& pairs, const Core& core) {
  std::printf("%s, at most %d\n  %-12s %5s %5s %5s %8s %8s\n", core.name.c_str(), core.peak, "table", "n", "k", "rows",
              "ours", "XNNPACK");
  for (const auto& [shape, pair] : pairs) {
    const auto& [table, n, k, rows] = shape;
    std::printf("  %-12s %5d %5d %5d ", table.c_str(), n, k, rows);
    if (pair.ours != nullptr) std::printf("%8.2f ", rate(shape, *pair.ours, core));
    if (pair.theirs != nullptr) std::printf("%8.2f ", rate(shape, *pair.theirs, core));
    if (pair.ours != nullptr && pair.theirs != nullptr) std::printf("%s", verdict(pair, core).c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
}

// Prints what lies below its floor. Throws std::runtime_error where a floor has no trace, or a core no floor.
bool floors_hold(const std::map<Shape, Pair>& pairs, const Core& core, const std::string& path) {
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
    if (!pairs.contains(shape) || pairs.at(shape).ours == nullptr) throw std::runtime_error(line + ": not traced");
    const double found = rate(shape, *pairs.at(shape).ours, core);
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
    const std::vector<Trace> traces = read_traces(argv[1], decode);
    const std::map<Shape, Pair> pairs = pair_up(argv[1], traces);
    const Core& core = core_named(argv[2]);
    if (argc == 4) return floors_hold(pairs, core, argv[3]) ? 0 : 1;
    print_core(pairs, core);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arm_cycles: %s\n", error.what());
    return 1;
  }
  return 0;
}
