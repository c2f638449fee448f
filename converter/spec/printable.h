// SPDX-License-Identifier: Apache-2.0
// Text from a model file, a checkpoint or a command line, made safe for a terminal and for a line of a log. The
// programs that run models use it too: the standard library is all that it needs.
#pragma once

#include <string>
#include <string_view>

namespace goldcrest::converter {

// The text with control characters (C0, DEL, C1), separators of lines and paragraphs, characters that turn the
// direction of writing, and bytes that are not UTF-8 written as \xNN.
std::string printable(std::string_view text);

// The same, but line ends stay: for messages of several lines.
std::string printable_lines(std::string_view text);

// Whether printable() would change nothing.
bool is_printable(std::string_view text);

// The most that one text of a file's metadata has.
constexpr size_t kMaxMetadataBytes = 1024;

// The text with each such character or byte as U+FFFD, cut to kMaxMetadataBytes.
std::string clean_metadata(std::string_view text);

// How many bytes the UTF-8 character at the start of `text` has; 0 where there is none, or it is not UTF-8.
size_t utf8_length(std::string_view text);

// The offset of the first byte that is not UTF-8, or the text's length.
size_t valid_utf8_prefix(std::string_view text);

}  // namespace goldcrest::converter
