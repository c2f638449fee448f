// SPDX-License-Identifier: Apache-2.0
// Whether a model and its arena fit a board, and with which limits they would.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"
#include "report/linker_script.h"

namespace goldcrest::converter {

// What is taken for granted of a firmware: engine and program (the engine alone is 54 to 60 kB, README.md), the stack
// of boards/common/sections.ld, and its variables.
constexpr uint64_t kCodeBytes = 64 << 10, kStackBytes = 16 << 10, kVariableBytes = 4 << 10;

struct Board {
  std::string name;
  LinkerScript script;
};

// The boards of the repository that have a linker script, by name.
std::vector<std::string> board_names();

// "all", a name, or the path of a linker script (with a '/' or ending in .ld). Throws Error, which lists the names.
std::vector<Board> find_boards(const std::string& name);

// A memory and what goes there.
struct Room {
  Region region;
  uint64_t model = 0, arena = 0, others = 0;  // bytes; others: code, stack, variables

  uint64_t needed() const { return model + arena + others; }
};

struct BoardFit {
  std::string name;
  std::vector<Room> rooms;  // those that are used
  bool fits = false;
  // Where it does not: limits that make the arena fit, as options; absent where none do.
  std::optional<std::string> limits_that_fit;
};

struct BoardDemand {
  uint64_t file_bytes = 0;
  goldcrest_memory memory = {};                                  // of the limits that were asked for
  std::function<uint64_t(const goldcrest_limits&)> arena_bytes;  // of any others
};

BoardFit fit_board(const Board& board, const BoardDemand& demand);

// One line for the board, one for each memory, one of what would fit.
std::string to_text(const BoardFit& fit);

}  // namespace goldcrest::converter
