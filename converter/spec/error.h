// SPDX-License-Identifier: Apache-2.0
// The converter's only exception, for bad input or a failed write. what() is the whole message for the user. It names
// the file, the tensor or setting, what was found and expected, and the remedy if there is one.
#pragma once

#include <stdexcept>
#include "spec/format_text.h"

namespace goldcrest::converter {
class Error : public std::runtime_error {
 public:
  template <typename... Args>
  explicit Error(const Pattern<std::type_identity_t<Args>...>& pattern, const Args&... args)
      : std::runtime_error(format_text(pattern, args...)) {}
};
}  // namespace goldcrest::converter
