// SPDX-License-Identifier: Apache-2.0
// Parts of the report's HTML page: escaped text, numbers, charts drawn as SVG, and the page's style and script.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include "report/memory_map.h"

namespace goldcrest::converter {
std::string escape_html(std::string_view text);

// Returns at most `most` bytes of UTF-8, cut between characters, with an ellipsis if any is missing; escaped.
std::string shortened_html(std::string_view text, size_t most);

// Returns "7.64 MB", "734 kB" or "96 bytes" (1 kB is 1,000 bytes), and "7,639,104".
std::string short_bytes(uint64_t bytes);
std::string grouped(uint64_t number);

// Returns a bar of a share 0..1 of its row's width.
std::string bar_svg(double share, bool is_marked);

// Returns a strip for each of the phases text, encode and decode: the fixed buffers, then the phase's own, in one
// scale.
std::string arena_svg(const MemoryMap& map);

// Arena bytes for some target lengths with one number of beams.
struct ArenaGrowth {
  uint32_t beam_size = 1;
  std::vector<uint32_t> target_tokens;
  std::vector<uint64_t> bytes;
};

// Returns a small chart for each number of beams, all in one scale.
std::string growth_svg(const std::vector<ArenaGrowth>& growth);

// Returns a slider for each letter of the arena's formula that a user chooses, and the script that evaluates it.
std::string arena_sliders(const MemoryMap& map, const goldcrest_info& info);

// The page's style sheet: light, dark and print.
extern const char* const kPageStyle;
}  // namespace goldcrest::converter
