// SPDX-License-Identifier: Apache-2.0
// Finds errors before any work: contradicting options, missing files, places that cannot be written.
#pragma once

#include "cli/command_line.h"

namespace goldcrest::converter {
// --make-shortlist holds out the last of every 10 lines of its text.
constexpr size_t kHeldOut = 10;

// Reads the user's lines. Throws UsageError, or Error naming the file or place.
void preflight(Options& options);

// Throws UsageError if --accuracy does not fit the other options.
void check_accuracy(const Options& options);
}  // namespace goldcrest::converter
