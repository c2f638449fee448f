// SPDX-License-Identifier: Apache-2.0
// Inflates deflated bytes of a zip (RFC 1951) with zlib.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goldcrest::converter {

// Returns the first n bytes of the contents; with `is_whole` the contents must have exactly n. Returns nothing if there
// are fewer or the bytes are damaged.
std::optional<std::string> inflate(std::string_view deflated, uint64_t n, bool is_whole);

}  // namespace goldcrest::converter
