// SPDX-License-Identifier: Apache-2.0
// Expects that bad input is refused with a message that has these words.
#pragma once

#include "converter/spec/error.h"
#include "support/test.h"

namespace goldcrest::test {
template <typename Function>
void expect_error(Function&& function, const std::vector<std::string>& words, const std::string& name = {}) {
  try {
    function();
    ADD_FAILURE() << name << ": no error";
  } catch (const converter::Error& error) {
    const std::string message = error.what();
    for (const std::string& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << name << ": " << message << "\nlacks: " << word;
  }
}
}  // namespace goldcrest::test
