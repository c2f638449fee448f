// SPDX-License-Identifier: Apache-2.0
// The program's three tasks: a checkpoint to a model file, a config.json to sizes, and a model file to another form of
// itself.
#pragma once

#include "cli/command_line.h"

namespace goldcrest::converter {
// Each returns the exit status and throws Error. preflight() has read the user's lines.
int convert_checkpoint(const Options& options);
// --shape: makes only the report.
int size_shape(const Options& options);
int convert_model_file(const Options& options);
}  // namespace goldcrest::converter
