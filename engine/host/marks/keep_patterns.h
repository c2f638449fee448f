// SPDX-License-Identifier: Apache-2.0
// Finds what a translation must keep as it is: placeholders of programs, addresses, and what a user's patterns match.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::host {
// White space of ASCII.
inline bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// A pattern is a row of at most 63 characters or sets of them, each with ?, * or + after it: a letter, ., \d, \w, \s,
// \S, [a-z_], [^"]. A backslash takes the special meaning from the character after it. Bytes above 127 count as
// letters. There are no groups and no alternatives, so a search never goes back: its work is at most kMostBytes steps
// for each byte of a text, whatever pattern and text are.
class KeepPatterns {
 public:
  static constexpr size_t kMostBytes = 1024;  // a match has at most these

  // Adds a pattern. Returns why it is refused, or "".
  std::string add(std::string_view pattern);
  // Adds {name}, {{name}}, ${name}, %s, %1$d, %(name)s, <x id=1/>, addresses of the web and of e-mail.
  void add_built_in();
  bool empty() const { return patterns_.empty(); }

  struct Match {
    size_t begin, bytes;  // bytes 0: there is none
  };
  // Returns the first match from `from` on; of several at one place the longest.
  Match find(std::string_view text, size_t from) const;
 private:
  struct Pattern {
    std::array<uint64_t, 256> takes = {};  // bit i: its i-th item takes this byte
    uint64_t optional = 0, repeats = 0;    // items
    unsigned n_items = 0;
  };
  static std::string parse(std::string_view pattern, Pattern* parsed);
  static size_t match(const Pattern& pattern, std::string_view text);
  std::vector<Pattern> patterns_;
};
}  // namespace goldcrest::host
