// SPDX-License-Identifier: Apache-2.0
// Turns traced blocks into instructions. A block that never runs is not decoded.
#include <unordered_map>
#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {
std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return file;
}

template <typename Records> Records read_records(const std::string& path) {
  std::ifstream file = open(path);
  Records records;
  for (typename Records::value_type record; file.read(reinterpret_cast<char*>(&record), sizeof record);)
    records.push_back(record);
  return records;
}

constexpr char32_t kSection = 0xffffffff;
}  // namespace

TraceFile::TraceFile(const std::string& prefix, Decoder decode)
    : prefix_(prefix),
      decode_(decode),
      blocks_(read_records<std::vector<Block>>(prefix + ".blocks")),
      runs_(read_records<std::u32string>(prefix + ".runs")) {
  for (size_t run = 0; run < runs_.size(); ++run)
    if (runs_[run] == kSection) begins_.push_back(run + 1);
    else if (begins_.empty() || runs_[run] >= blocks_.size()) throw std::runtime_error(prefix + ": damaged");
  // Reads lines such as "      10:  sadalp  v0.4s, v1.8h", by their offset.
  std::ifstream file = open(prefix + ".listing");
  for (std::string text; std::getline(file, text);) {
    const size_t colon = text.find(":\t");
    if (colon == std::string::npos) continue;
    const size_t name = colon + 2, name_end = text.find('\t', name);
    Line line = {text.substr(name, name_end - name), ""};
    if (name_end != std::string::npos) line.operands = text.substr(name_end + 1);
    listing_[std::stoull(text.substr(0, colon), nullptr, 16)] = line;
  }
}

void TraceFile::for_sections(const std::function<void(std::istream& words, size_t section)>& visit) const {
  std::ifstream names = open(prefix_ + ".names");
  std::string line;
  size_t section = 0;
  for (; section < sections() && std::getline(names, line); ++section) {
    std::istringstream words(line);
    visit(words, section);
    if (words.fail()) break;
  }
  if (section != sections() || std::getline(names, line))
    throw std::runtime_error(prefix_ + ".names: does not fit the trace");
}

std::u32string_view TraceFile::blocks(size_t section) const {
  const size_t begin = begins_[section];
  const size_t end = section + 1 < begins_.size() ? begins_[section + 1] - 1 : runs_.size();
  return std::u32string_view(runs_).substr(begin, end - begin);
}

std::vector<TraceFile::Line> TraceFile::lines_of(const Block& block) const {
  std::vector<Line> lines;
  for (auto line = listing_.find(block.offset); lines.size() < block.n; ++line) {
    if (line == listing_.end()) throw std::runtime_error("a trace without its listing");
    lines.push_back(line->second);
  }
  return lines;
}

// Returns whether `next` follows `block` in memory. The end of the last block is unknown, but it is translated last and
// never traced.
bool TraceFile::follows(char32_t block, char32_t next) const {
  if (block + 1 == blocks_.size()) return false;
  const uint64_t bytes = blocks_[block + 1].offset - blocks_[block].offset;
  return blocks_[next].address == blocks_[block].address + bytes;
}

Trace TraceFile::trace(size_t section) const {
  Trace trace;
  std::unordered_map<char32_t, uint32_t> known;  // index of each block's first instruction in the trace
  const std::u32string_view runs = blocks(section);
  for (size_t run = 0; run < runs.size(); ++run) {
    const Block& block = blocks_[runs[run]];
    const auto [first, is_new] = known.emplace(runs[run], static_cast<uint32_t>(trace.instructions.size()));
    if (is_new)
      for (const auto& [name, operands] : lines_of(block)) trace.instructions.push_back(decode_(name, operands));
    for (uint32_t i = 0; i < block.n; ++i) trace.steps.push_back({first->second + i, false});
    if (run + 1 < runs.size()) trace.steps.back().jumped = !follows(runs[run], runs[run + 1]);
  }
  return trace;
}
}  // namespace arm_cycles
