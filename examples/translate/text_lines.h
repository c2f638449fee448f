// SPDX-License-Identifier: Apache-2.0
// Lines of untrusted text: read with bounded memory, checked to be UTF-8.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

constexpr size_t kMaxLineBytes = size_t{1} << 24;  // no engine takes more

// Reads a line without its end, CR LF or LF. Of a longer one than kMaxLineBytes, one byte more than that is kept.
bool read_line(std::istream& input, std::string* line);

// The offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates), or the length.
size_t valid_utf8_prefix(const std::string& text);
