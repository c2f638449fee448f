// SPDX-License-Identifier: Apache-2.0
// The names of SentencePiece's byte pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace goldcrest::converter {
// Returns 0xAB for "<0xAB>", which has two upper-case digits.
inline std::optional<uint8_t> parse_byte_piece(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}
}  // namespace goldcrest::converter
