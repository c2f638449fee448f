// SPDX-License-Identifier: Apache-2.0
// The memory that a model may use, for instance on devices in the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace goldcrest::converter {

struct Budget {
  std::optional<uint64_t> arena_bytes, file_bytes;  // absent: no limit
};

// Parses "arena=48K,file=2M"; either part may be missing. K is 1024 bytes, M is 1024 K. Throws Error for any other
// text.
Budget parse_budget(const std::string& text);

// Returns one line for each exceeded number, with the excess; "" if the model fits.
std::string over_budget(const Budget& budget, uint64_t arena_bytes, uint64_t file_bytes);

}  // namespace goldcrest::converter
