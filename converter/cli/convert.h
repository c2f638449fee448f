// SPDX-License-Identifier: Apache-2.0
// The program's three tasks: a checkpoint to a model file, a config.json to sizes, and a model file to another form of
// itself.
#pragma once

#include "cli/command_line.h"
#include "cli/preflight.h"

namespace goldcrest::converter {

// Each returns the exit status and throws Error.
int convert_checkpoint(const Arguments& arguments, const UserLines& lines);
// --shape: makes only the report.
int size_shape(const Arguments& arguments);
int convert_model_file(const Arguments& arguments);

}  // namespace goldcrest::converter
