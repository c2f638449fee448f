// SPDX-License-Identifier: Apache-2.0
// From blocks to instructions: those of a block that never runs are not decoded.
#include "arm_cycles/trace.h"

#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace arm_cycles {
namespace {

struct Block {
  uint64_t address, offset, n;  // in memory; in PREFIX.code; instructions
};

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return file;
}

template <typename T>
std::vector<T> read_records(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<T> records;
  for (T record; file.read(reinterpret_cast<char*>(&record), sizeof record);) records.push_back(record);
  return records;
}

struct Line {
  std::string name, operands;
};

// Lines such as "      10:	sadalp	v0.4s, v1.8h", by their offset.
std::map<uint64_t, Line> read_listing(const std::string& path) {
  std::ifstream file = open(path);
  std::map<uint64_t, Line> lines;
  for (std::string text; std::getline(file, text);) {
    const size_t colon = text.find(":\t");
    if (colon == std::string::npos) continue;
    const size_t name = colon + 2, name_end = text.find('\t', name);
    Line line = {text.substr(name, name_end - name), ""};
    if (name_end != std::string::npos) line.operands = text.substr(name_end + 1);
    lines[std::stoull(text.substr(0, colon), nullptr, 16)] = line;
  }
  return lines;
}

}  // namespace

std::vector<Trace> read_traces(const std::string& prefix, Decoder decode) {
  constexpr uint32_t kSection = 0xffffffff;
  const std::vector<Block> blocks = read_records<Block>(prefix + ".blocks");
  const std::vector<uint32_t> runs = read_records<uint32_t>(prefix + ".runs");
  const std::map<uint64_t, Line> listing = read_listing(prefix + ".listing");
  std::vector<Trace> traces;
  std::map<uint64_t, uint32_t> known;  // by offset: the instruction's index in this section's trace
  for (size_t run = 0; run < runs.size(); ++run) {
    if (runs[run] == kSection) {
      traces.emplace_back();
      known.clear();
      continue;
    }
    if (traces.empty() || runs[run] >= blocks.size()) throw std::runtime_error(prefix + ": damaged");
    Trace& trace = traces.back();
    const Block& block = blocks[runs[run]];
    auto line = listing.find(block.offset);
    for (uint64_t i = 0; i < block.n; ++i, ++line) {
      if (line == listing.end()) throw std::runtime_error(prefix + ": damaged");
      const auto [found, is_new] = known.emplace(line->first, static_cast<uint32_t>(trace.instructions.size()));
      if (is_new) trace.instructions.push_back(decode(line->second.name, line->second.operands));
      trace.steps.push_back({found->second, false});
    }
    const bool last = run + 1 == runs.size() || runs[run + 1] == kSection;
    if (!last) {
      const uint64_t end = line == listing.end() ? std::prev(line)->first + 4 : line->first;
      trace.steps.back().jumped = blocks[runs[run + 1]].address != block.address + (end - block.offset);
    }
  }
  return traces;
}

}  // namespace arm_cycles
