// SPDX-License-Identifier: Apache-2.0
// How names and shapes from an untrusted file appear in a message.
#include "sources/messages.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace goldcrest::converter {

std::string shape_text(const std::vector<uint64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string in_quotes(std::string_view text) {
  constexpr size_t kMaxBytes = 100;
  std::string result = "\"";
  size_t n = std::min(text.size(), kMaxBytes);
  while (n < text.size() && n > 0 && (text[n] & 0xC0) == 0x80) --n;  // never in the middle of a UTF-8 character
  for (const char c : text.substr(0, n)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + (n < text.size() ? "...\"" : "\"");
}

std::string list_in_quotes(const std::vector<std::string>& texts, size_t most) {
  std::string result;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) result += (i ? ", " : "") + in_quotes(texts[i]);
  if (texts.size() > most) result += fmt::format(" and {} more", texts.size() - most);
  return result;
}

}  // namespace goldcrest::converter
