// SPDX-License-Identifier: Apache-2.0
#include "host/marks/keep_patterns.h"
#include <algorithm>
#include <bitset>
#include <cctype>
#include "host/wording.h"

namespace goldcrest::host {
namespace {
using Bytes = std::bitset<256>;

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

Bytes bytes_that(bool (*belongs)(int)) {
  Bytes bytes;
  for (int c = 0; c < 256; ++c) bytes[static_cast<size_t>(c)] = belongs(c);
  return bytes;
}

bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_word(int c) { return c == '_' || c > 127 || std::isalnum(c) != 0; }

// The bytes after a backslash.
Bytes escaped(char c) {
  switch (c) {
    case 'd': return bytes_that(is_digit);
    case 'w': return bytes_that(is_word);
    case 's': return bytes_that(is_space);
    case 'S': return ~bytes_that(is_space);
    default: return Bytes().set(byte_of(c));
  }
}

// Reads [...] from the byte after the bracket. Returns the place after it, or npos if nothing ends it.
size_t read_set(std::string_view pattern, size_t at, Bytes* bytes) {
  const bool is_negated = at < pattern.size() && pattern[at] == '^';
  if (is_negated) ++at;
  for (bool is_first = true; at < pattern.size() && (is_first || pattern[at] != ']'); is_first = false) {
    const bool is_escape = pattern[at] == '\\' && at + 1 < pattern.size();
    if (is_escape) ++at;
    const bool is_range = !is_escape && at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
    *bytes |= is_escape ? escaped(pattern[at]) : Bytes().set(byte_of(pattern[at]));
    for (int c = byte_of(pattern[at]); is_range && c <= byte_of(pattern[at + 2]); ++c)
      bytes->set(static_cast<size_t>(c));
    at += is_range ? 3 : 1;
  }
  if (is_negated) *bytes = ~*bytes;
  return at < pattern.size() ? at + 1 : std::string_view::npos;
}

constexpr const char* kBuiltIn[] = {"$?{{?[^{} ]*}}?", "%[\\d$]*[-+#0]*\\d*[.]?\\d*[hlqzjt]*[sdifuxXcoeEgGp@]",
    "%[(]\\w+[)][-+#0]*\\d*[sdifr]", "</?\\w[^<>]*>", "https?://[^ \t<>\"]*[\\w/#=&]", "www[.][^ \t<>\"]*[\\w/#=&]",
    "[\\w.+-]+@[\\w-]+[.][\\w.-]*\\w"};
}  // namespace

std::string KeepPatterns::parse(std::string_view pattern, Pattern* parsed) {
  for (size_t at = 0; at < pattern.size();) {
    const std::string place = " at byte " + std::to_string(at + 1);
    const char c = pattern[at++];
    const bool is_count = c == '{' && at < pattern.size() && is_digit(pattern[at]) && parsed->n_items > 0;
    if (std::string_view("()|^*+?").find(c) != std::string_view::npos || is_count)
      return std::string(1, c) + place + " is not possible; a backslash before it takes the character itself";
    Bytes bytes;
    if (c == '[') {
      at = read_set(pattern, at, &bytes);
      if (at == std::string_view::npos) return "no ] ends the [" + place;
    } else if (c == '\\') {
      if (at == pattern.size()) return "no character follows the \\" + place;
      bytes = escaped(pattern[at++]);
    } else {
      bytes = c == '.' ? ~Bytes() : Bytes().set(byte_of(c));
    }
    const char how = at < pattern.size() ? pattern[at] : '\0';
    const bool has_how = how == '?' || how == '*' || how == '+';
    if (has_how && c != '[' && byte_of(c) > 127)
      return std::string(1, how) + " after a letter that is not ASCII" + place;
    if (parsed->n_items == 63) return "more than 63 items";
    const uint64_t bit = uint64_t{1} << parsed->n_items++;
    if (how == '?' || how == '*') parsed->optional |= bit;
    if (how == '*' || how == '+') parsed->repeats |= bit;
    at += has_how ? 1 : 0;
    for (size_t i = 0; i < 256; ++i) parsed->takes[i] |= bytes[i] ? bit : 0;
  }
  return "";
}

// Returns the bytes of the longest match at the beginning of the text.
size_t KeepPatterns::match(const Pattern& pattern, std::string_view text) {
  const uint64_t end = uint64_t{1} << pattern.n_items;
  const auto with_skips = [&](uint64_t items) {
    for (uint64_t more = 0; (more = items | (items & pattern.optional) << 1) != items;) items = more;
    return items;
  };
  size_t longest = 0;
  uint64_t next = with_skips(1);  // the items that may take the next byte
  for (size_t i = 0; i < std::min(text.size(), kMostBytes) && next != 0; ++i) {
    const uint64_t taken = next & pattern.takes[byte_of(text[i])];
    next = with_skips(taken << 1 | (taken & pattern.repeats));
    if ((next & end) != 0) longest = i + 1;
  }
  while (longest < text.size() && longest > 0 && (byte_of(text[longest]) & 0xC0) == 0x80) ++longest;  // a whole letter
  return longest;
}

KeepPatterns::Match KeepPatterns::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if ((byte_of(text[begin]) & 0xC0) == 0x80) continue;
    size_t longest = 0;
    for (const Pattern& pattern : patterns_) {
      // A first item that repeats took the byte before in vain, with all that follows.
      const bool is_tried = begin > from && (pattern.repeats & pattern.takes[byte_of(text[begin - 1])] & 1) != 0;
      if (!is_tried) longest = std::max(longest, match(pattern, text.substr(begin)));
    }
    if (longest > 0) return {begin, longest};
  }
  return {text.size(), 0};
}

std::string KeepPatterns::add(std::string_view pattern) {
  Pattern parsed;
  std::string problem = parse(pattern, &parsed);
  if (problem.empty() && parsed.optional + 1 == uint64_t{1} << parsed.n_items)
    problem = "matches the empty text; expected a pattern of at least one character";
  if (problem.empty()) {
    const std::string_view text = "Any words and 12";
    size_t n_left = 0;
    for (size_t at = 0, n = 0; at < text.size(); at += std::max<size_t>(n, 1)) {
      n = match(parsed, text.substr(at));
      n_left += n == 0 && is_word(byte_of(text[at])) ? 1 : 0;
    }
    if (n_left == 0) problem = "matches everything; expected a pattern that leaves words to translate";
  }
  if (!problem.empty()) return in_quotes(pattern) + ": " + problem;
  patterns_.push_back(parsed);
  return "";
}

void KeepPatterns::add_built_in() {
  for (const char* const pattern : kBuiltIn) patterns_.emplace_back(), parse(pattern, &patterns_.back());
}
}  // namespace goldcrest::host
