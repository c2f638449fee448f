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

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);
