// SPDX-License-Identifier: Apache-2.0
// Lines of untrusted text, with bounded memory: what is wrong with them as text or as ids. Needs only the standard
// library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

constexpr size_t kMaxLineBytes = size_t{1} << 24;  // no engine takes more

// Reads a line without its end, CR LF or LF. Stores only kMaxLineBytes + 1 bytes of a longer line. Returns false at the
// end of the input and if it cannot be read (ferror, errno).
bool read_line(std::FILE* input, std::string* line);

// Returns whether a line has only white space, including Unicode's.
bool is_blank(const std::string& line);

// Removes soft hyphens (U+00AD), which say where a word may be broken. Models were not trained with them.
std::string without_soft_hyphens(std::string text);

// Returns why a line is no text (too long, a NUL byte, not UTF-8), or an empty string.
std::string text_problem(const std::string& line);

// Returns the error of n ids that are more than the limit of `option`.
std::string too_many(size_t n, uint32_t most, const char* option);

// *ids <- a line's decimal ids, separated by spaces, each below vocab_size. Returns an error, or an empty string.
std::string parse_ids(const std::string& line, uint32_t vocab_size, std::vector<int32_t>* ids);

namespace goldcrest {
struct ParsedIds {
  std::vector<int32_t> ids;
  std::string_view bad;    // the first word that is not an id of the vocabulary; the ids end before it
  bool is_number = false;  // `bad` is a number, but too large
};

// Reads decimal ids below `vocab_size`, separated by white space.
ParsedIds read_id_list(std::string_view line, uint32_t vocab_size);

// Returns the ids as read_id_list reads them: "5 3 0".
std::string ids_text(const std::vector<int32_t>& ids);

// Returns the warning of a source that does not end with `end`, as a model's sources do, or "" if it does.
std::string missing_end(const std::vector<int32_t>& source, const std::vector<int32_t>& end);

// Returns the >>xx<< at the start of a text for a multilingual model, or "".
std::string_view leading_language_code(std::string_view text);
}  // namespace goldcrest
