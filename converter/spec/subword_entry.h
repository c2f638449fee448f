// SPDX-License-Identifier: Apache-2.0
// How subword-nmt writes the pieces of a word: "x@@" where another piece follows, "x" at the word's end.
#pragma once

#include <string_view>

namespace goldcrest::converter {

constexpr std::string_view kSubwordMark = "@@";

// Whether another piece of the same word follows. "@@" alone is a word.
constexpr bool goes_on(std::string_view entry) {
  return entry.size() > kSubwordMark.size() && entry.ends_with(kSubwordMark);
}

// The text that is printed.
constexpr std::string_view without_mark(std::string_view entry) {
  return entry.substr(0, entry.size() - (goes_on(entry) ? kSubwordMark.size() : 0));
}

}  // namespace goldcrest::converter
