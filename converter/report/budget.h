// SPDX-License-Identifier: Apache-2.0
// What the devices already out there have room for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace goldcrest::converter {

struct Budget {
  std::optional<uint64_t> arena_bytes, file_bytes;  // absent: any
};

// "arena=48K,file=2M", either alone too; K is 1024 bytes, M is 1024 K. Throws Error for anything else.
Budget parse_budget(const std::string& text);

// One line for each number that is exceeded, with by how much; "" when the model fits.
std::string over_budget(const Budget& budget, uint64_t arena_bytes, uint64_t file_bytes);

}  // namespace goldcrest::converter
