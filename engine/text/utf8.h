// SPDX-License-Identifier: Apache-2.0
// Reads UTF-8 as SentencePiece does (util.h and util.cc at v0.1.97): finds characters and replaces bad bytes.
#pragma once

#include <stdint.h>

namespace goldcrest {
struct TextSpan {
  const uint8_t* bytes;
  uint32_t n;

  TextSpan from(uint32_t begin) const { return {bytes + begin, n - begin}; }
};

constexpr uint8_t kSpaceSymbol[3] = {0xE2, 0x96, 0x81};        // U+2581, which stands for a space
constexpr uint8_t kReplacementSymbol[3] = {0xEF, 0xBF, 0xBD};  // U+FFFD, which stands for a byte that is no UTF-8

// Returns the bytes of the character that starts with `lead`, 1..4; 1 for a byte that starts no character.
uint32_t char_bytes(uint8_t lead);

// The same, but at most the bytes of the text, which must not be empty.
uint32_t first_char_bytes(TextSpan text);

// Returns the bytes of the well-formed character at the start, 1..4; 0 if there is none (overlong, surrogate, beyond
// U+10FFFF, cut).
uint32_t valid_char_bytes(TextSpan text);
}  // namespace goldcrest
