// SPDX-License-Identifier: Apache-2.0
// The engine's own source of UTF-8 under another name, and valid_char_bytes around it: the linker takes this object's
// definitions and leaves the library's out.
#include "unit/text/counted.h"

// NOLINTNEXTLINE(readability-identifier-naming): a function's name
#define valid_char_bytes uncounted_valid_char_bytes
#include "engine/text/utf8.cc"  // NOLINT(bugprone-suspicious-include)
#undef valid_char_bytes

uint64_t goldcrest::test::characters_read = 0;

namespace goldcrest {
uint32_t valid_char_bytes(TextSpan text);

uint32_t valid_char_bytes(TextSpan text) {
  ++test::characters_read;
  return uncounted_valid_char_bytes(text);
}
}  // namespace goldcrest
