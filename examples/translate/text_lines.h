// SPDX-License-Identifier: Apache-2.0
// Lines of untrusted text: read with bounded memory, and what is wrong with them as text or as ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

constexpr size_t kMaxLineBytes = size_t{1} << 24;  // no engine takes more

// Reads a line without its end, CR LF or LF. Of a longer one than kMaxLineBytes, one byte more than that is kept.
// False at the end of the input and where it cannot be read (ferror, errno).
bool read_line(std::FILE* input, std::string* line);

// Nothing but white space, Unicode's too.
bool is_blank(const std::string& line);

// Why a line is no text (too long, a NUL byte, not UTF-8), or empty.
std::string text_problem(const std::string& line);

// Why n ids are more than the limit of `option`.
std::string too_many(size_t n, uint32_t most, const char* option);

// A line's decimal ids, spaces between them, each below vocab_size. Returns why it has none, or empty.
std::string parse_ids(const std::string& line, uint32_t vocab_size, std::vector<int32_t>* ids);
