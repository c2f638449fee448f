// SPDX-License-Identifier: Apache-2.0
// Properties of characters that goldcrest_next_part asks for, by Unicode 15. The tables are short enough for a
// microcontroller: letters of four scripts, marks of a dozen.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
// Properties of a character, in any combination.
enum CharacterClass : uint8_t {
  kLineEnd = 1,
  kSpace = 2,    // Unicode's White_Space without the line ends
  kEndMark = 4,  // ends a sentence
  kCloser = 8,   // quote or bracket that may close after an end mark
  kOpener = 16,  // may stand before the first letter of a sentence
  kClause = 32,  // ; : , and the dash of any script
  kWide = 64,    // a mark after which no space stands
  kJoint = 128   // dash or apostrophe: a word begins after it
};

// One register wide: the code, U+FFFD for a byte that is no UTF-8; bytes, 0 at the end of the text; CharacterClass.
struct Character {
  uint32_t word;

  uint32_t code() const { return word & 0x1FFFFF; }
  uint32_t n() const { return (word >> 21) & 7; }
  bool is(uint32_t wanted) const { return (word & (wanted << 24)) != 0; }
};

constexpr Character make_character(uint32_t code, uint32_t n, uint32_t classes) {
  return {(code & 0x1FFFFF) | (n << 21) | (classes << 24)};
}

// The character at the start of a text of n bytes.
Character read_character(const char* text, size_t n);

enum class Case : uint8_t { kNone, kLower, kUpper };

// Latin, Greek, Cyrillic and Armenian have letters of two cases; all others have none.
Case letter_case(uint32_t code);

// The small letter of a capital of ASCII, Latin-1, Greek or Cyrillic; any other code as it is.
uint32_t small_letter(uint32_t code);
}  // namespace goldcrest
