// SPDX-License-Identifier: Apache-2.0
// Makes text from a model file, a checkpoint or a command line safe for a terminal and for a line of a log. Needs only
// the standard library, because the programs that run models use it too.
#pragma once

#include <string>
#include <string_view>

namespace goldcrest {
// Returns the text with these written as \xNN: control characters (C0, DEL, C1), separators of lines and paragraphs,
// characters that change the direction of writing, and bytes that are not UTF-8.
std::string printable(std::string_view text);

// Does the same but keeps line ends, for messages of several lines.
std::string printable_lines(std::string_view text);

// Returns UTF-8 text as a part of one line: each control character that ends a line or that a terminal obeys (C0, DEL,
// U+0085) and each U+2028 and U+2029 becomes a space. Keeps tabs unless the line's columns are separated by tabs.
std::string single_line(std::string_view text, bool keeps_tabs);

// True if printable() would change nothing.
bool is_printable(std::string_view text);

// the limit of one text in a file's metadata
constexpr size_t kMaxMetadataBytes = 1024;

// Returns the text with each such character or byte replaced by U+FFFD, cut to kMaxMetadataBytes.
std::string clean_metadata(std::string_view text);

// Returns the bytes of the UTF-8 character at the start of `text`, or 0 if there is none or it is not UTF-8.
size_t utf8_length(std::string_view text);

// Returns the offset of the first byte that is not UTF-8, or the text's length.
size_t valid_utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }
}  // namespace goldcrest
