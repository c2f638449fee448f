// SPDX-License-Identifier: Apache-2.0
// Prints multiply-accumulates a cycle, and instructions for one, of traced linear layers on the models of Cortex-M.
// Covers our kernels, and CMSIS-NN's where they were traced.
//
//   cortexm_cycles PREFIX CORE [FLOORS]
//
// PREFIX.names has a line for each traced section: whose, table, n, k, rows. FLOORS has lines of core, k, rows, the
// least multiply-accumulates a cycle and the most instructions each. With FLOORS the program prints only the figures
// that break these bounds, and fails if there are any.
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "arm_cycles/trace.h"

namespace arm_cycles {
namespace {

struct Figures {
  double rate, instructions;  // multiply-accumulates a cycle; instructions a multiply-accumulate
};

using Shape = std::pair<int, int>;  // k, rows

std::map<Shape, std::map<std::string, Figures>> read_figures(const std::string& prefix, const Core& core) {
  const TraceFile file(prefix, decode_thumb);
  std::ifstream names(prefix + ".names");
  std::map<Shape, std::map<std::string, Figures>> figures;
  size_t section = 0;
  for (std::string line; std::getline(names, line); ++section) {
    std::istringstream words(line);
    std::string who, table;
    int n = 0, k = 0, rows = 0;
    if (!(words >> who >> table >> n >> k >> rows) || section >= file.sections())
      throw std::runtime_error(prefix + ".names: does not fit the trace");
    const double products = 1.0 * n * k * rows;
    const Trace trace = file.trace(section);
    figures[{k, rows}][who] = {products / static_cast<double>(cycles_of(trace, core, {})),
                               static_cast<double>(trace.steps.size()) / products};
  }
  if (section != file.sections()) throw std::runtime_error(prefix + ".names: does not fit the trace");
  return figures;
}

bool floors_hold(const std::map<Shape, std::map<std::string, Figures>>& figures, const Core& core,
                 const std::string& path) {
  std::ifstream file(path);
  bool hold = true;
  int n_floors = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    int k = 0, rows = 0;
    double rate = 0, instructions = 0;
    if (line.starts_with('#') || !(words >> name >> k >> rows >> rate >> instructions) || name != core.name) continue;
    const auto found = figures.find({k, rows});
    if (found == figures.end()) throw std::runtime_error(line + ": not traced");
    const Figures ours = found->second.at("ours");
    ++n_floors;
    if (ours.rate >= rate && ours.instructions <= instructions) continue;
    hold = false;
    std::printf("%s: found %.3f %.4f\n", line.c_str(), ours.rate, ours.instructions);
  }
  if (n_floors == 0) throw std::runtime_error(path + ": no floor for " + core.name);
  return hold;
}

}  // namespace
}  // namespace arm_cycles

int main(int argc, char** argv) {
  using namespace arm_cycles;
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: cortexm_cycles PREFIX CORE [FLOORS]\n");
    return 2;
  }
  try {
    const Core& core = core_named(argv[2]);
    const auto figures = read_figures(argv[1], core);
    if (argc == 4) return floors_hold(figures, core, argv[3]) ? 0 : 1;
    std::printf("%s, at most %d multiply-accumulates a cycle: those, and instructions for one\n", core.name.c_str(),
                core.peak);
    for (const auto& [shape, makers] : figures) {
      std::printf("  k = %3d, rows = %2d:", shape.first, shape.second);
      for (const char* who : {"ours", "vec_mat_mult_t", "mat_mult_nt_t"}) {
        if (const auto found = makers.find(who); found != makers.end())
          std::printf("   %s %5.3f %6.4f", who, found->second.rate, found->second.instructions);
      }
      std::printf("\n");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cortexm_cycles: %s\n", error.what());
    return 1;
  }
  return 0;
}
