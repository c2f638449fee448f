// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-8 by table 3-7 of the Unicode standard: the range of the second byte rules out overlong forms, surrogates
// and code points beyond U+10FFFF.
#include "base/exact_floats.h"
#include "text/utf8.h"

namespace goldcrest {
uint32_t char_bytes(uint8_t lead) {
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

uint32_t first_char_bytes(TextSpan text) {
  const uint32_t n = char_bytes(text.bytes[0]);
  return n < text.n ? n : text.n;
}

uint32_t valid_char_bytes(TextSpan text) {
  if (text.n == 0) return 0;
  const uint8_t lead = text.bytes[0];
  if (lead < 0x80) return 1;
  const uint32_t n = char_bytes(lead);
  if (lead < 0xC2 || lead > 0xF4 || n > text.n) return 0;
  uint8_t lowest = 0x80, highest = 0xBF;
  if (lead == 0xE0) lowest = 0xA0;
  if (lead == 0xED) highest = 0x9F;
  if (lead == 0xF0) lowest = 0x90;
  if (lead == 0xF4) highest = 0x8F;
  if (text.bytes[1] < lowest || text.bytes[1] > highest) return 0;
  for (uint32_t i = 2; i < n; ++i)
    if ((text.bytes[i] & 0xC0) != 0x80) return 0;
  return n;
}
}  // namespace goldcrest
