// SPDX-License-Identifier: Apache-2.0
// Strict UTF-8 and Unicode white space, without a library.
#include "evaluate/metrics_text.h"

#include <cstdint>

namespace goldcrest::converter {
namespace {

// Returns the bytes of the valid character at text[at], or 0 if there is none, and sets its code point.
size_t decode_one(std::string_view text, size_t at, char32_t& c) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<uint8_t>(text[at + i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) {
    c = first;
    return 1;
  }
  const size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < n) return 0;
  uint32_t code = first & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[n] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  c = code;
  return n;
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0xFFFD;
    const size_t n = decode_one(text, at, c);
    out.push_back(n == 0 ? char32_t{0xFFFD} : c);
    at += n == 0 ? 1 : n;
  }
  return out;
}

// True for the characters for which Python's str.isspace is true (Unicode 15, bidirectional type WS, B or S, or
// category Zs).
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::u32string join_words(const std::vector<std::u32string_view>& words, std::u32string_view separator) {
  std::u32string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += separator;
    out += words[i];
  }
  return out;
}

}  // namespace goldcrest::converter
