// SPDX-License-Identifier: Apache-2.0
// Prints modelled tokens/s of traced models (model_trace.cc) on boards, and where the cycles go.
//
//   model_cycles BOARD BYTES_A_CYCLE PREFIX...
//   model_cycles BOARD BYTES_A_CYCLE --floors FILE PREFIX...
//
// PREFIX is FOLDER/MODEL.BEAM, PREFIX.names has a line for each section. A section takes what the model of the core
// says, or what its weights need from memory, where that is more; a part of the work whose bytes fit the board's caches
// needs none. FILE has a line for each figure that must not fall: board, model, beam size, tokens/s; then nothing is
// printed but what lies below.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include "arm_cycles/trace.h"

namespace arm_cycles {
namespace {

struct Board {
  const char *name, *core;
  double hertz;
  double cache_bytes;  // of the last caches, what a single core uses of them
};

constexpr Board kBoards[] = {
    {"Pi3", "A53", 1.2e9, 512 << 10}, {"Pi4", "A72", 1.5e9, 1 << 20}, {"Pi5", "A76", 2.4e9, (512 + 2048) << 10}};

const Board& board_named(const std::string& name) {
  for (const Board& board : kBoards) {
    if (name == board.name) return board;
  }
  throw std::runtime_error("no board is named " + name);
}

struct Section {
  double macs, bytes, cycles;  // on the core alone
};

// Sections of one part of the work by kernel.
using Part = std::map<std::string, std::vector<Section>>;

std::map<std::string, Part> read_parts(const std::string& prefix, const Core& core) {
  const TraceFile file(prefix);
  std::ifstream names(prefix + ".names");
  std::map<std::string, Part> parts;
  std::unordered_map<std::u32string_view, int64_t> known;  // many sections run the same instructions
  size_t section = 0;
  for (std::string line; std::getline(names, line); ++section) {
    std::istringstream words(line);
    std::string part, kernel;
    double macs = 0, bytes = 0;
    if (!(words >> part >> kernel >> macs >> bytes) || section >= file.sections())
      throw std::runtime_error(prefix + ".names: does not fit the trace");
    const auto [cycles, is_new] = known.emplace(file.blocks(section), 0);
    if (is_new) cycles->second = cycles_of(file.trace(section), core, {});
    parts[part][kernel].push_back({macs, bytes, static_cast<double>(cycles->second)});
  }
  if (section != file.sections()) throw std::runtime_error(prefix + ".names: does not fit the trace");
  return parts;
}

// A part of the work on a board.
struct Time {
  double cycles = 0, multiply_bound = 0, memory_bound = 0;
  std::map<std::string, double> by_kernel;

  double bound() const { return std::max(multiply_bound, memory_bound); }
};

Time time_of(const Part& part, const Core& core, const Board& board, double bytes_a_cycle) {
  Time time;
  double bytes = 0;
  for (const auto& [kernel, sections] : part) {
    for (const Section& section : sections) {
      time.multiply_bound += section.macs / core.peak;
      bytes += section.bytes;
    }
  }
  const bool cached = bytes <= board.cache_bytes;
  time.memory_bound = cached ? 0 : bytes / bytes_a_cycle;
  for (const auto& [kernel, sections] : part) {
    double& cycles = time.by_kernel[kernel];
    for (const Section& section : sections) {
      cycles += std::max(section.cycles, cached ? 0 : section.bytes / bytes_a_cycle);
    }
    time.cycles += cycles;
  }
  return time;
}


void print(const std::string& name, const Time& time) {
  std::printf("  %-14s %9.0f %7s %4.0f%%", name.c_str(), time.cycles / 1e3,
              time.memory_bound > time.multiply_bound ? "memory" : "products", 100 * time.bound() / time.cycles);
  for (const char* const kernel : kColumns) {
    const auto found = time.by_kernel.find(kernel);
    std::printf(" %13.1f", found == time.by_kernel.end() ? 0 : 100 * found->second / time.cycles);
  }
}

}  // namespace
}  // namespace arm_cycles

int main(int argc, char** argv) {
  using namespace arm_cycles;
  try {
    const Board& board = board_named(argv[1]);
    const double bytes_a_cycle = std::stod(argv[2]);
    const Core& core = core_named(board.core);
    std::printf("%s\n  %-14s %9s %7s %5s", board.name, "", "kcycles", "bound", "share");
    for (const char* const kernel : kColumns) std::printf(" %13s", kernel);
    std::printf("\n");
    for (int i = 3; i < argc; ++i) {
      const std::map<std::string, Part> parts = read_parts(argv[i], core);
      for (const char* const part : {"encode", "decode"}) {
        const Time time = time_of(parts.at(part), core, board, bytes_a_cycle);
        print(std::string(argv[i]).substr(std::string(argv[i]).rfind('/') + 1) + " " + part, time);
        std::printf(" %8.2f tokens/s\n", board.hertz / time.cycles);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_cycles: %s\n", error.what());
    return 1;
  }
  return 0;
}
