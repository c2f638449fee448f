// SPDX-License-Identifier: Apache-2.0
// Well-formed UTF-8 is Table 3-7 of the Unicode Standard.
#include "host/printable.h"
#include <algorithm>

namespace goldcrest {
namespace {
unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// True if a terminal would not simply show this character of well-formed UTF-8.
bool is_unseen(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (first < 0x20 || first == 0x7F) return true;
  if (first == 0xC2) return byte_at(character, 1) < 0xA0;  // C1
  if (first != 0xE2) return false;
  const unsigned second = byte_at(character, 1), third = byte_at(character, 2);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

void append_escaped(std::string_view bytes, std::string* text) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); ++i) {
    *text += "\\x";
    *text += kDigits[byte_at(bytes, i) >> 4];
    *text += kDigits[byte_at(bytes, i) & 15];
  }
}

std::string escape(std::string_view text, bool keep_line_ends) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (length != 0 && (!is_unseen(character) || (keep_line_ends && character == "\n"))) result += character;
    else append_escaped(character, &result);
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
  for (size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  if (length < 3) return length;
  const unsigned second = byte_at(text, 1);
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;   // no overlong forms
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;  // no surrogates, nothing above U+10FFFF
  return second >= low && second <= high ? length : 0;
}

size_t valid_utf8_prefix(std::string_view text) {
  size_t valid = 0;
  while (const size_t length = utf8_length(text.substr(valid))) valid += length;
  return valid;
}

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

std::string single_line(std::string_view text, bool keeps_tabs) {
  std::string result;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<size_t>(1, utf8_length(text)));
    const unsigned first = byte_at(character, 0);
    const bool is_control = (first < 0x20 && !(keeps_tabs && first == '\t')) || first == 0x7F;
    const bool is_separator = character == "\xC2\x85" || character == "\u2028" || character == "\u2029";
    result += is_control || is_separator ? " " : character;
    text.remove_prefix(character.size());
  }
  return result;
}

std::string clean_metadata(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const std::string_view kept = length == 0 || is_unseen(character) ? "\uFFFD" : character;
    if (result.size() + kept.size() > kMaxMetadataBytes) break;
    result += kept;
    text.remove_prefix(character.size());
  }
  return result;
}

bool is_printable(std::string_view text) { return printable(text) == text; }
}  // namespace goldcrest
