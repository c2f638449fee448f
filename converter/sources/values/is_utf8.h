// SPDX-License-Identifier: Apache-2.0
// Checks UTF-8 by the engine's own rules.
#pragma once

#include <string_view>

#include "text/utf8.h"

namespace goldcrest::converter {

inline bool is_utf8(std::string_view text) {
  TextSpan rest = {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
  while (rest.n > 0) {
    const uint32_t n = valid_char_bytes(rest);
    if (n == 0) return false;
    rest = rest.from(n);
  }
  return true;
}

}  // namespace goldcrest::converter
