// SPDX-License-Identifier: Apache-2.0
// Text as the metrics see it: code points, and words between white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// UTF-8 to code points; each byte that belongs to no valid character becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

// White space as Python's str.split has it, the non-breaking spaces of French included.
bool is_space(char32_t c);

// The words of `text`, which must outlive them.
std::vector<std::u32string_view> split_words(std::u32string_view text);

// The words with `separator` between them.
std::u32string join_words(const std::vector<std::u32string_view>& words, std::u32string_view separator);

}  // namespace goldcrest::converter
