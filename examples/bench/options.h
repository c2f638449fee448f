// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measurements.h"

namespace bench {

constexpr const char* kProgram = "goldcrest-bench";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  Settings settings;
  bool source_given = false, target_given = false;
  double audio_seconds = 10;
  bool audio_given = false;
  std::vector<std::string> measures = {"open", "speed", "length", "breakdown", "bounds"};
  uint32_t threads = 1;
  bool json = false, list_kernels = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);

}  // namespace bench
