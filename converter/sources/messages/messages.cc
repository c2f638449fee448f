// SPDX-License-Identifier: Apache-2.0
// Shows names and shapes from an untrusted file in messages.
#include "sources/messages/messages.h"

#include <algorithm>

namespace goldcrest::converter {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kMaxBytes = 100;
  std::string result = "\"";
  size_t n = std::min(text.size(), kMaxBytes);
  while (n < text.size() && n > 0 && (text[n] & 0xC0) == 0x80) --n;  // never cuts a UTF-8 character
  for (const char c : text.substr(0, n)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr char kDigits[] = "0123456789abcdef";
      result += std::string("\\x") + kDigits[static_cast<unsigned char>(c) >> 4] + kDigits[c & 15];
    } else {
      result += c;
    }
  }
  return result + (n < text.size() ? "...\"" : "\"");
}

std::string list_in_quotes(const std::vector<std::string>& texts, size_t most) {
  std::string result;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) result += (i ? ", " : "") + in_quotes(texts[i]);
  if (texts.size() > most) result += " and " + std::to_string(texts.size() - most) + " more";
  return result;
}

}  // namespace goldcrest::converter
