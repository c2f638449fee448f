// SPDX-License-Identifier: Apache-2.0
// The messages with which the converter refuses bad input.
#pragma once

#include "converter/spec/error.h"
#include "support/test.h"

namespace goldcrest::test {
// Returns the message of the Error that `function` throws, or "no error". It must begin with `where`, which is cut off.
template <typename Function> std::string error_of(Function&& function, const std::string& where = {}) {
  try {
    function();
  } catch (const converter::Error& error) {
    const std::string message = error.what();
    return message.starts_with(where) ? message.substr(where.size()) : "no name: " + message;
  }
  return "no error";
}

template <typename Function>
void expect_error(Function&& function, const std::vector<std::string>& words, const std::string& name = {}) {
  const std::string message = error_of(function);
  EXPECT_NE(message, "no error") << name;
  for (const std::string& word : words) EXPECT_TRUE(has(message, word)) << name;
}
}  // namespace goldcrest::test
