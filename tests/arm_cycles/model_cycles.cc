// SPDX-License-Identifier: Apache-2.0
// Prints modelled tokens/s of traced models (model_trace.cc) on boards, and where the cycles go.
//
//   model_cycles BOARD BYTES_A_CYCLE [--floors FILE] PREFIX...
//
// PREFIX is FOLDER/MODEL.BEAM; PREFIX.names has a line for each section. A section takes the cycles of the core's
// model, or the time in which memory delivers its bytes if that is more. A part of the work whose bytes fit the caches
// needs no memory. FILE has a line for each figure that must not fall: board, model, beam size, tokens/s, percent of
// the bound. With FILE the program prints only figures below their floor, and fails if there are any.
#include <algorithm>
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
  double cache_bytes;    // the share of the last caches that one core uses
  double bytes_a_cycle;  // that a core reads from memory; the user gives it
};

constexpr Board kBoards[] = {{"Pi3", "A53", 1.2e9, 512 << 10, 0},
                             {"Pi4", "A72", 1.5e9, 1 << 20, 0},
                             {"Pi5", "A76", 2.4e9, (512 + 2048) << 10, 0}};
constexpr double kTargetTokens = 64;  // length of the sentence whose middle position model_trace.cc traces

const Board& board_named(const std::string& name) {
  for (const Board& board : kBoards) {
    if (name == board.name) return board;
  }
  throw std::runtime_error("no board is named " + name);
}

struct Section {
  double macs, bytes, cycles;  // cycles: of the core, without waiting for memory
};

// The sections of one part of the work, by kernel.
using Part = std::map<std::string, std::vector<Section>>;

std::map<std::string, Part> read_parts(const std::string& prefix, const Core& core) {
  const TraceFile file(prefix, core.decoder);
  std::map<std::string, Part> parts;
  std::unordered_map<std::u32string_view, int64_t> known;  // many sections run the same instructions
  file.for_sections([&](std::istream& words, size_t section) {
    std::string part, kernel;
    double macs = 0, bytes = 0;
    words >> part >> kernel >> macs >> bytes;
    const auto [cycles, is_new] = known.emplace(file.blocks(section), 0);
    if (is_new) cycles->second = cycles_of(file.trace(section), core, {});
    parts[part][kernel].push_back({macs, bytes, static_cast<double>(cycles->second)});
  });
  return parts;
}

// The time of a part of the work on a board.
struct Time {
  double cycles = 0, multiply_bound = 0, memory_bound = 0;
  double floor = 0;  // `cycles`, if linear and output layers took only the time of their multiplications or their bytes
  std::map<std::string, double> by_kernel;

  double share() const { return std::max(multiply_bound, memory_bound) / cycles; }  // fraction of the bound
};

Time time_of(const Part& part, const Core& core, const Board& board) {
  Time time;
  double bytes = 0;
  for (const auto& [kernel, sections] : part) {
    for (const Section& section : sections) {
      time.multiply_bound += section.macs / core.peak;
      bytes += section.bytes;
    }
  }
  const bool cached = bytes <= board.cache_bytes;
  time.memory_bound = cached ? 0 : bytes / board.bytes_a_cycle;
  for (const auto& [kernel, sections] : part) {
    double& cycles = time.by_kernel[kernel];
    const bool is_matrix = kernel == "linear" || kernel == "output_block";
    for (const Section& section : sections) {
      const double memory = cached ? 0 : section.bytes / board.bytes_a_cycle;
      cycles += std::max(section.cycles, memory);
      time.floor += std::max(is_matrix ? section.macs / core.peak : section.cycles, memory);
    }
    time.cycles += cycles;
  }
  return time;
}

// All other kernels are in the last column.
constexpr const char* kColumns[] = {"linear", "output_block", "logit_sums", "attention", "quantize_rows", "layer_norm"};

void print_heading(const Board& board) {
  std::printf("%s: Cortex-%s, %.1f GHz, %.1f bytes a cycle from memory\n", board.name, board.core, board.hertz / 1e9,
              board.bytes_a_cycle);
  std::printf("| model | beam | tokens/s | ms | bound | share | floor | share");
  for (const char* const kernel : kColumns) std::printf(" | %s", kernel);
  std::printf(" | rest |\n|---|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
}

// Prints a step of decoding; or encoding, which has no tokens/s.
void print(const std::string& what, const Time& time, const Board& board, double tokens_a_second) {
  char tokens[32] = "";
  if (tokens_a_second > 0) std::snprintf(tokens, sizeof tokens, "%.*f", tokens_a_second < 100 ? 1 : 0, tokens_a_second);
  std::printf("| %s | %s | %.2f | %s | %.0f %% | %.2f | %.1f %%", what.c_str(), tokens, 1e3 * time.cycles / board.hertz,
              time.memory_bound > time.multiply_bound ? "memory" : "products", 100 * time.share(),
              1e3 * time.floor / board.hertz, 100 * time.floor / time.cycles);
  double rest = time.cycles;
  for (const char* const kernel : kColumns) {
    const auto found = time.by_kernel.find(kernel);
    const double cycles = found == time.by_kernel.end() ? 0 : found->second;
    rest -= cycles;
    std::printf(" | %.1f", 100 * cycles / time.cycles);
  }
  std::printf(" | %.1f |\n", 100 * rest / time.cycles);
}

struct Floor {
  double tokens_a_second, percent;
};

// Reads the floors of one board, by "model beam".
std::map<std::string, Floor> read_floors(const std::string& path, const Board& board) {
  std::ifstream file(path);
  std::map<std::string, Floor> floors;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, model, beam;
    Floor floor;
    if (words >> name >> model >> beam >> floor.tokens_a_second >> floor.percent && name == board.name)
      floors[model + " | " + beam] = floor;
  }
  return floors;
}

// Returns whether all floors hold.
bool run(Board board, const std::string& floors_path, const std::vector<std::string>& prefixes) {
  const Core& core = core_named(board.core);
  const bool checks = !floors_path.empty();
  const std::map<std::string, Floor> floors = checks ? read_floors(floors_path, board) : std::map<std::string, Floor>();
  if (!checks) print_heading(board);
  bool hold = true;
  for (const std::string& prefix : prefixes) {
    const size_t name = prefix.rfind('/') + 1, dot = prefix.rfind('.');
    const std::string model = prefix.substr(name, dot - name), what = model + " | " + prefix.substr(dot + 1);
    const std::map<std::string, Part> parts = read_parts(prefix, core);
    const Time encode = time_of(parts.at("encode"), core, board), step = time_of(parts.at("decode"), core, board);
    const double tokens_a_second = board.hertz / (encode.cycles / kTargetTokens + step.cycles);
    if (!checks) {
      if (what.ends_with(" 1")) print(model + " | encoding", encode, board, 0);
      print(what, step, board, tokens_a_second);
      std::fflush(stdout);
      continue;
    }
    const Floor& floor = floors.at(what);
    if (tokens_a_second >= floor.tokens_a_second && 100 * step.share() >= floor.percent) continue;
    hold = false;
    std::printf("%s | %s: only %.2f tokens/s, %.1f %%\n", board.name, what.c_str(), tokens_a_second,
                100 * step.share());
  }
  return hold;
}

}  // namespace
}  // namespace arm_cycles

int main(int argc, char** argv) {
  using namespace arm_cycles;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) {
    std::fprintf(stderr, "usage: model_cycles BOARD BYTES_A_CYCLE [--floors FILE] PREFIX...\n");
    return 2;
  }
  try {
    Board board = board_named(words[0]);
    board.bytes_a_cycle = std::stod(words[1]);
    const bool checks = words[2] == "--floors";
    return run(board, checks ? words.at(3) : "", {words.begin() + (checks ? 4 : 2), words.end()}) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_cycles: %s\n", error.what());
    return 1;
  }
}
