// SPDX-License-Identifier: Apache-2.0
// Reads the files that tracer.c writes.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arm_cycles/core.h"

namespace arm_cycles {

using Decoder = decltype(Core::decoder);

// PREFIX.blocks, PREFIX.runs and PREFIX.listing, objdump's text of PREFIX.code. Throws std::runtime_error.
class TraceFile {
 public:
  TraceFile(const std::string& prefix, Decoder decode);

  size_t sections() const { return begins_.size(); }
  // Calls visit(words, section) for each section's line in PREFIX.names; it reads the words that it knows. Throws
  // std::runtime_error if it cannot read them, or if the numbers of lines and sections differ.
  void for_sections(const std::function<void(std::istream& words, size_t section)>& visit) const;
  // The blocks of a section in order. Sections with equal blocks ran the same instructions.
  std::u32string_view blocks(size_t section) const;
  Trace trace(size_t section) const;
  // A section's instructions for an assembler, one after another, without branches and addresses of code.
  std::string assembly(size_t section) const;

 private:
  struct Block {
    uint64_t address, offset, n;  // address in memory; offset in PREFIX.code; instructions
  };
  struct Line {
    std::string name, operands;
  };

  std::vector<Line> lines_of(const Block& block) const;
  bool follows(char32_t block, char32_t next) const;

  std::string prefix_;
  Decoder decode_;
  std::vector<Block> blocks_;
  std::u32string runs_;
  std::vector<size_t> begins_;  // where each section begins in runs_, after its mark
  std::map<uint64_t, Line> listing_;
};

}  // namespace arm_cycles
