// SPDX-License-Identifier: Apache-2.0
// The two things that the program does: a checkpoint to a model file, and a model file to another form of itself.
#pragma once

#include "cli/before_work.h"
#include "cli/command_line.h"

namespace goldcrest::converter {

// Both return the exit status and throw Error.
int convert_checkpoint(const Arguments& arguments, const UserLines& lines);
int convert_model_file(const Arguments& arguments);

}  // namespace goldcrest::converter
