// SPDX-License-Identifier: Apache-2.0
// Any calls of the C API in any order, on any model, in memory of exactly the size that was asked for: every function
// keeps to the errors that its comment names, and what it gives is in range.
#pragma once

#include <span>

#include "fuzz/script.h"

namespace goldcrest::test {

// Asks for the model's memory, starts an engine in it and calls what the script says. Of an engine that would need more
// than some work or memory only the plan is made. Returns whether an engine ran.
bool call_engine(std::span<const uint8_t> model, Script& script);

}  // namespace goldcrest::test
