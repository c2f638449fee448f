// SPDX-License-Identifier: Apache-2.0
// The headers of every GoogleTest program.
#pragma once

#include <gtest/gtest.h>
#include "support/rng.h"
#include "support/standard.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
// Tells whether a text has these words. A failed expectation prints the text.
inline testing::AssertionResult has(const std::string& text, const std::string& words) {
  const bool found = text.find(words) != std::string::npos;
  return testing::AssertionResult(found) << text << (found ? "\nhas: " : "\nlacks: ") << words;
}

// Tests of files: each has a folder of its own.
class InFolder : public testing::Test {
 protected:
  const TemporaryFolder folder;
};
}  // namespace goldcrest::test
