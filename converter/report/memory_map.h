// SPDX-License-Identifier: Apache-2.0
// The arena as people read it: a closed formula in the limits, its value, and a picture of what lies where.
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

// Throws Error naming `file` when the model or the limits are refused.
MemoryMap map_memory(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file);

// "fixed + max(text, encode, decode)" with every part written out in S, C, T, L, B, N, R, P, K and up64(); evaluates to
// memory.arena_bytes for the limits. One line a part; formula_legend explains the letters.
std::string arena_formula(const MemoryMap& map);
std::string formula_legend(const goldcrest_limits& limits);

// One line a buffer, in order of its offset: offset, bytes, a bar of its share, phase, name.
std::string picture(const MemoryMap& map);

}  // namespace goldcrest::converter
