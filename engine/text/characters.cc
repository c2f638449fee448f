// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace goldcrest {
namespace {
// Codes, and the classes of each; two arrays take less than one of padded rows.
constexpr uint16_t kCodes[] = {'\t', '\n', '\v', '\f', '\r', ' ', '!', '"', '\'', '(', ')', '*', ',', '-', '.', ':',
    ';', '?', '[', ']', '{', '}', 0x0085, 0x00A0, 0x00A1, 0x00AB, 0x00BB, 0x00BF, 0x0589, 0x060C, 0x061B, 0x061F,
    0x06D4, 0x0964, 0x0965, 0x104B, 0x1362, 0x1680, 0x17D4, 0x2013, 0x2014, 0x2018, 0x2019, 0x201A, 0x201C, 0x201D,
    0x201E, 0x2022, 0x2026, 0x2028, 0x2029, 0x202F, 0x2039, 0x203A, 0x203C, 0x205F, 0x3000, 0x3001, 0x3002, 0x3008,
    0x3009, 0x300A, 0x300B, 0x300C, 0x300D, 0x300E, 0x300F, 0x3010, 0x3011, 0xFF01, 0xFF08, 0xFF09, 0xFF0C, 0xFF1A,
    0xFF1B, 0xFF1F, 0xFF61, 0xFF64};
constexpr uint8_t kClasses[] = {kSpace, kLineEnd, kSpace, kSpace, kLineEnd, kSpace, kEndMark, kCloser | kOpener,
    kCloser | kOpener | kJoint, kOpener, kCloser, kOpener, kClause, kOpener, kEndMark, kClause, kClause, kEndMark,
    kOpener, kCloser, kOpener, kCloser, kSpace, kSpace, kOpener, kCloser | kOpener, kCloser | kOpener, kOpener,
    kEndMark, kClause, kClause, kEndMark, kEndMark, kEndMark, kEndMark, kEndMark, kEndMark, kSpace, kEndMark,
    kOpener | kClause | kJoint, kOpener | kClause | kJoint, kCloser | kOpener, kCloser | kOpener | kJoint, kOpener,
    kCloser | kOpener, kCloser | kOpener, kOpener, kOpener, kEndMark, kLineEnd, kLineEnd, kSpace, kCloser | kOpener,
    kCloser | kOpener, kEndMark, kSpace, kSpace, kClause | kWide, kEndMark | kWide, kOpener, kCloser, kOpener, kCloser,
    kOpener, kCloser, kOpener, kCloser, kOpener, kCloser, kEndMark | kWide, kOpener, kCloser, kClause | kWide,
    kClause | kWide, kClause | kWide, kEndMark | kWide, kEndMark | kWide, kClause | kWide};
static_assert(sizeof kCodes == 2 * sizeof kClasses);

// U+2000 to U+200A are spaces of several widths.
uint8_t classes_of(uint32_t code) {
  if (code >= 0x2000 && code <= 0x200A) return kSpace;
  for (size_t i = 0; i < sizeof kClasses; ++i)
    if (kCodes[i] == code) return kClasses[i];
  return 0;
}

enum Letters : uint8_t { kSmall, kCapitals, kCapitals32, kCapitals80, kEvenCapitals, kOddCapitals };

// Ranges of letters: all small ones, all capitals (their small letters 32 or 80 codes further on), or both by turns.
// The signs for times and divided by are among them.
constexpr uint16_t kFirst[] = {'A', 'a', 0xC0, 0xDF, 0x100, 0x139, 0x14A, 0x179, 0x218, 0x391, 0x3AC, 0x400, 0x410,
    0x430, 0x460, 0x48A, 0x4D0, 0x531, 0x561, 0x1E00, 0x1EA0};
constexpr uint16_t kLast[] = {'Z', 'z', 0xDE, 0xFF, 0x137, 0x148, 0x177, 0x17E, 0x21F, 0x3AB, 0x3CE, 0x40F, 0x42F,
    0x45F, 0x481, 0x4BF, 0x52F, 0x556, 0x587, 0x1E95, 0x1EFF};
constexpr uint8_t kLetters[] = {kCapitals32, kSmall, kCapitals32, kSmall, kEvenCapitals, kOddCapitals, kEvenCapitals,
    kOddCapitals, kEvenCapitals, kCapitals32, kSmall, kCapitals80, kCapitals32, kSmall, kEvenCapitals, kEvenCapitals,
    kEvenCapitals, kCapitals, kSmall, kEvenCapitals, kEvenCapitals};
static_assert(sizeof kFirst == 2 * sizeof kLetters && sizeof kLast == 2 * sizeof kLetters);

// The index of the range that a code is in; their number when it is in none.
size_t find_letters(uint32_t code) {
  size_t i = 0;
  while (i < sizeof kLetters && (code < kFirst[i] || code > kLast[i])) ++i;
  return i;
}
}  // namespace

Character read_character(const char* text, size_t n) {
  if (n == 0) return make_character(0, 0, 0);
  const auto* bytes = reinterpret_cast<const uint8_t*>(text);
  const uint32_t length = valid_char_bytes({bytes, n < 4 ? static_cast<uint32_t>(n) : 4});
  if (length == 0) return make_character(0xFFFD, 1, 0);
  uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) code = code << 6 | (bytes[i] & 0x3Fu);
  return make_character(code, length, classes_of(code));
}

Case letter_case(uint32_t code) {
  const size_t i = find_letters(code);
  if (i == sizeof kLetters) return Case::kNone;
  const uint8_t letters = kLetters[i];
  if (letters < kEvenCapitals) return letters == kSmall ? Case::kLower : Case::kUpper;
  return (code + letters - kEvenCapitals) % 2 == 0 ? Case::kUpper : Case::kLower;
}

uint32_t small_letter(uint32_t code) {
  const size_t i = find_letters(code);
  if (i == sizeof kLetters) return code;
  return kLetters[i] == kCapitals32 ? code + 32 : kLetters[i] == kCapitals80 ? code + 80 : code;
}
}  // namespace goldcrest
