// SPDX-License-Identifier: Apache-2.0
// The memories of a board, from its linker script: MEMORY and REGION_ALIAS, as boards/common/sections.ld wants them.
#pragma once

#include <cstdint>
#include <map>
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

  // The region that is called so, or has the alias. Throws Error naming `where`.
  const Region& region(const std::string& name, const std::string& where) const;
};

// Throws Error naming `where` for what is no MEMORY as ld has it; sizes are numbers (hexadecimal too) with K or M.
LinkerScript parse_linker_script(std::string_view text, const std::string& where);

}  // namespace goldcrest::converter
