// SPDX-License-Identifier: Apache-2.0
// From blocks to instructions: those of a block that never runs are not decoded.
#include "arm_cycles/trace.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unordered_map>

namespace arm_cycles {
namespace {

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return file;
}

template <typename Records>
Records read_records(const std::string& path) {
  std::ifstream file = open(path);
  Records records;
  for (typename Records::value_type record; file.read(reinterpret_cast<char*>(&record), sizeof record);)
    records.push_back(record);
  return records;
}

constexpr char32_t kSection = 0xffffffff;
constexpr uint64_t kLastBytes = 4;  // of the listing's last instruction

}  // namespace

TraceFile::TraceFile(const std::string& prefix, Decoder decode)
    : decode_(decode),
      blocks_(read_records<std::vector<Block>>(prefix + ".blocks")),
      runs_(read_records<std::u32string>(prefix + ".runs")) {
  for (size_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run] == kSection) {
      begins_.push_back(run + 1);
    } else if (begins_.empty() || runs_[run] >= blocks_.size()) {
      throw std::runtime_error(prefix + ": damaged");
    }
  }
  // Lines such as "      10:	sadalp	v0.4s, v1.8h", by their offset.
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

std::u32string_view TraceFile::blocks(size_t section) const {
  const size_t begin = begins_[section];
  const size_t end = section + 1 < begins_.size() ? begins_[section + 1] - 1 : runs_.size();
  return std::u32string_view(runs_).substr(begin, end - begin);
}

std::vector<TraceFile::Line> TraceFile::lines(const Block& block, uint64_t* end) const {
  std::vector<Line> found;
  auto line = listing_.find(block.offset);
  for (uint64_t i = 0; i < block.n; ++i, ++line) {
    if (line == listing_.end()) throw std::runtime_error("a trace's listing does not have all its blocks");
    found.push_back(line->second);
  }
  if (end != nullptr) *end = line == listing_.end() ? std::prev(line)->first + kLastBytes : line->first;
  return found;
}

Trace TraceFile::trace(size_t section) const {
  Trace trace;
  struct Known {
    uint32_t first;  // its first instruction's index in the trace
    uint64_t end;    // the address behind it
  };
  std::unordered_map<char32_t, Known> known;  // by block
  const std::u32string_view runs = blocks(section);
  for (size_t run = 0; run < runs.size(); ++run) {
    const Block& block = blocks_[runs[run]];
    const auto [entry, is_new] = known.emplace(runs[run], Known{static_cast<uint32_t>(trace.instructions.size()), 0});
    if (is_new) {
      for (const Line& line : lines(block, &entry->second.end))
        trace.instructions.push_back(decode_(line.name, line.operands));
      entry->second.end += block.address - block.offset;
    }
    for (uint32_t i = 0; i < block.n; ++i) trace.steps.push_back({entry->second.first + i, false});
    if (run + 1 < runs.size()) trace.steps.back().jumped = blocks_[runs[run + 1]].address != entry->second.end;
  }
  return trace;
}

std::string TraceFile::assembly(size_t section) const {
  std::string text;
  for (const char32_t run : blocks(section)) {
    for (const Line& line : lines(blocks_[run], nullptr)) {
      if (line.name.starts_with("adr") || decode_(line.name, line.operands).kind == Kind::kBranch) continue;
      text += line.name + " " + line.operands + "\n";
    }
  }
  return text;
}

}  // namespace arm_cycles
