// SPDX-License-Identifier: Apache-2.0
#include "text_lines.h"

bool read_line(std::istream& input, std::string* line) {
  constexpr int kEnd = std::char_traits<char>::eof();
  line->clear();
  int c = input.rdbuf()->sbumpc();
  if (c == kEnd) return false;
  for (; c != kEnd && c != '\n'; c = input.rdbuf()->sbumpc()) {
    if (line->size() <= kMaxLineBytes) line->push_back(static_cast<char>(c));
  }
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

size_t valid_utf8_prefix(const std::string& text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = byte(i);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xc2 && lead < 0xe0 ? 2
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xf0 && lead < 0xf5 ? 4
                                                        : 0;
    if (length == 0) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    }
    const unsigned second = byte(i + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
        (lead == 0xf4 && second >= 0x90)) {
      return i;
    }
    i += length;
  }
  return i;
}
