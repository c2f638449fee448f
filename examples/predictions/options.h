// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-predictions.
#pragma once

#include <optional>
#include <string>

namespace predictions {

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  std::string file;     // "-": standard input; empty if wants_table
  std::string machine;  // whose predictions; empty: the machine that the file names
  bool wants_table = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);

}  // namespace predictions
