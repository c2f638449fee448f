// SPDX-License-Identifier: Apache-2.0
// Reads the memories of a board from its linker script: MEMORY and REGION_ALIAS, as boards/common/sections.ld needs
// them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

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

}  // namespace goldcrest::converter
