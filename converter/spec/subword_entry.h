// SPDX-License-Identifier: Apache-2.0
// The pieces of a word as subword-nmt writes them: "x@@" if another piece follows, "x" at the word's end.
#pragma once

#include <string_view>

namespace goldcrest::converter {
constexpr std::string_view kSubwordMark = "@@";

// True if another piece of the same word follows. A bare "@@" is a word.
constexpr bool goes_on(std::string_view entry) {
  return entry.size() > kSubwordMark.size() && entry.ends_with(kSubwordMark);
}

// Returns the text without the mark.
constexpr std::string_view without_mark(std::string_view entry) {
  return entry.substr(0, entry.size() - (goes_on(entry) ? kSubwordMark.size() : 0));
}
}  // namespace goldcrest::converter
