// SPDX-License-Identifier: Apache-2.0
// Text for the metrics: code points, and words between white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Converts UTF-8 to code points; each byte outside a valid character becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

// White space as in Python's str.split, including the non-breaking spaces of French.
bool is_space(char32_t c);

// Returns the words of `text`, which must outlive them.
std::vector<std::u32string_view> split_words(std::u32string_view text);

// Joins the words with `separator`.
std::u32string join_words(const std::vector<std::u32string_view>& words, std::u32string_view separator);

}  // namespace goldcrest::converter
