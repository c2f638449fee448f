// SPDX-License-Identifier: Apache-2.0
// Deflated bytes, as zips have them (RFC 1951), by zlib.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goldcrest::converter {

// The first n bytes of what `deflated` holds; of a whole stream exactly n. Nothing where it holds fewer, or is damaged.
std::optional<std::string> inflate(std::string_view deflated, uint64_t n, bool is_whole);

}  // namespace goldcrest::converter
