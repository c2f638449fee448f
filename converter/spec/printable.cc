// SPDX-License-Identifier: Apache-2.0
// Well-formed UTF-8 is Table 3-7 of the Unicode Standard.
#include "spec/printable.h"

#include <fmt/format.h>

namespace goldcrest::converter {
namespace {

unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// Of a character of well-formed UTF-8.
bool is_control(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

std::string escape(std::string_view text, bool keep_line_ends) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool is_kept = length != 0 && (!is_control(character) || (keep_line_ends && character == "\n"));
    if (is_kept) result += character;
    for (size_t i = 0; i < character.size() && !is_kept; ++i) result += fmt::format("\\x{:02x}", byte_at(character, i));
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned second = byte_at(text, 1);
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;   // no longer forms
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;  // no surrogates, nothing above U+10FFFF
  return second >= low && second <= high ? length : 0;
}

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

std::string clean_metadata(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const std::string_view kept = length == 0 || is_control(character) ? "\uFFFD" : character;
    if (result.size() + kept.size() > kMaxMetadataBytes) break;
    result += kept;
    text.remove_prefix(character.size());
  }
  return result;
}

bool is_printable(std::string_view text) { return printable(text) == text; }

}  // namespace goldcrest::converter
