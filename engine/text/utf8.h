// SPDX-License-Identifier: Apache-2.0
// UTF-8 as SentencePiece reads it (util.h and util.cc at v0.1.97): what is a character, and what stands for a bad byte.
#pragma once

#include <cstdint>

namespace goldcrest {

struct TextSpan {
  const uint8_t* bytes;
  uint32_t n;

  TextSpan from(uint32_t begin) const { return {bytes + begin, n - begin}; }
};

constexpr uint8_t kSpaceSymbol[3] = {0xE2, 0x96, 0x81};        // U+2581, which stands for a space
constexpr uint8_t kReplacementSymbol[3] = {0xEF, 0xBF, 0xBD};  // U+FFFD, which stands for a byte that is no UTF-8

// Bytes of the character that starts with `lead`, 1..4; 1 for a byte that starts none.
uint32_t char_bytes(uint8_t lead);

// The same, but at most what is left of a text that is not empty.
uint32_t first_char_bytes(TextSpan text);

// Bytes of the well-formed character at the start, 1..4; 0 when there is none (overlong, surrogate, beyond U+10FFFF,
// cut).
uint32_t valid_char_bytes(TextSpan text);

}  // namespace goldcrest
