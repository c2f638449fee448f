// SPDX-License-Identifier: Apache-2.0
// The one exception of the converter: bad input or a failed write. what() is the whole message for the user: it names
// the file, the tensor or setting, what was found and what was expected, and the remedy where there is one.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace goldcrest::converter {

class Error : public std::runtime_error {
 public:
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

}  // namespace goldcrest::converter
