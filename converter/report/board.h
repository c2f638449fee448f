// SPDX-License-Identifier: Apache-2.0
// Tells whether a model and its arena fit a board, and with which limits they would; and whether they fit a budget, for
// instance of devices in the field.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {
// Reads the memories of a board from its linker script: MEMORY and REGION_ALIAS, as boards/common/sections.ld needs
// them.

struct Region {
  std::string name;
  uint64_t bytes = 0;
};

struct LinkerScript {
  std::vector<Region> regions;                 // in the script's order
  std::map<std::string, std::string> aliases;  // region by alias

  // Returns the region with this name or alias. Throws Error naming `where`.
  const Region& region(const std::string& name, const std::string& where) const;
};

// Throws Error naming `where` if ld would not accept the MEMORY command. Sizes are numbers (also hexadecimal) with K or
// M.
LinkerScript parse_linker_script(std::string_view text, const std::string& where);

// The linker scripts of boards/, which CMake puts into the program (report/board_scripts.cc.in).
struct BoardScript {
  const char* name;
  const char* text;
};

extern const std::span<const BoardScript> kBoardScripts;  // by name

// Assumed sizes of a firmware: engine and program (the engine takes 54 to 60 kB of it, README.md), the stack of
// boards/common/sections.ld, and variables.
constexpr uint64_t kCodeBytes = 64 << 10, kStackBytes = 16 << 10, kVariableBytes = 4 << 10;

struct Board {
  std::string name;
  LinkerScript script;
};

// The boards of the repository that have a linker script, by name.
std::vector<std::string> board_names();

// `name` is "all", a board's name, or the path of a linker script (with a '/' or ending in .ld). Throws an Error that
// lists the names.
std::vector<Board> find_boards(const std::string& name);

// A memory and its contents.
struct Room {
  Region region;
  uint64_t model = 0, arena = 0, others = 0;  // bytes; others: code, stack, variables

  uint64_t needed() const { return model + arena + others; }
};

struct BoardFit {
  std::string name;
  std::vector<Room> rooms;  // only memories in use
  bool fits = false;
  // If the model does not fit: options whose limits make the arena fit; absent if none do.
  std::optional<std::string> limits_that_fit;
  uint64_t saved_bytes = 0;  // by weights of 4 bits, in the memory of the model
};

struct BoardDemand {
  uint64_t file_bytes = 0;
  goldcrest_memory memory = {};                                  // for the requested limits
  std::function<uint64_t(const goldcrest_limits&)> arena_bytes;  // for any other limits
};

BoardFit fit_board(const Board& board, const BoardDemand& demand);

// Returns one line for the board, one for each memory, and one with limits that would fit.
std::string to_text(const BoardFit& fit);

struct Budget {
  std::optional<uint64_t> arena_bytes, file_bytes;  // absent: no limit
};

// Parses "arena=48K,file=2M"; either part may be missing. K is 1024 bytes, M is 1024 K. Throws Error for any other
// text.
Budget parse_budget(const std::string& text);

// Returns one line for each exceeded number, with the excess, then the limits with which the arena would fit; "" if the
// model fits.
std::string over_budget(const Budget& budget, const BoardDemand& demand);
}  // namespace goldcrest::converter
