// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-translate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "translator.h"

constexpr const char* kProgram = "goldcrest-translate";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kLinesFailed = 3 };

struct Arguments : TranslatorOptions {
  std::vector<std::string> inputs;
  bool stats = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);
