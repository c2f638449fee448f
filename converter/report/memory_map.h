// SPDX-License-Identifier: Apache-2.0
// Shows the arena to people: a closed formula in the limits, its value, and a picture of its buffers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {
struct MemoryMap {
  goldcrest_memory memory = {};
  std::vector<goldcrest_buffer> buffers;  // in the plan's order
};

// Throws Error naming `file` if the model or the limits are refused.
MemoryMap map_memory(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file);

// Returns "fixed + max(text, encode, decode)" with every part written out in S, C, T, L, B, N, R, P, K and up64(). For
// the limits it evaluates to memory.arena_bytes. Each part has its own line; formula_legend explains the letters.
std::string arena_formula(const MemoryMap& map);
std::string formula_legend(const goldcrest_limits& limits);

// Returns one line per buffer, by offset: offset, bytes, a bar of its share, phase, name.
std::string picture(const MemoryMap& map);
}  // namespace goldcrest::converter
