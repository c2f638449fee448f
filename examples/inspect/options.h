// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-inspect.
#pragma once

#include <optional>
#include <string>

#include "goldcrest/goldcrest.h"

constexpr const char* kProgram = "goldcrest-inspect";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  std::string model;
  goldcrest_limits limits = {};
  bool self_test = false, map = false;
};

// Fills `arguments` from the command line. Returns the exit status where the program ends here: it has printed help or
// the version, or has said what is wrong with the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);
