// SPDX-License-Identifier: Apache-2.0
// Text from a checkpoint or a command line, made safe for a terminal and for a line of a log.
#pragma once

#include <string>
#include <string_view>

namespace goldcrest::converter {

// The text with control characters (C0, DEL, C1) and bytes that are not UTF-8 written as \xNN.
std::string printable(std::string_view text);

// The same, but line ends stay: for messages of several lines.
std::string printable_lines(std::string_view text);

// Whether printable() would change nothing.
bool is_printable(std::string_view text);

// The most that one text of a file's metadata has.
constexpr size_t kMaxMetadataBytes = 1024;

// The text with each control character, and each byte that is not UTF-8, as U+FFFD, cut to kMaxMetadataBytes.
std::string clean_metadata(std::string_view text);

// How many bytes the UTF-8 character at the start of `text` has; 0 where there is none, or it is not UTF-8.
size_t utf8_length(std::string_view text);

}  // namespace goldcrest::converter
