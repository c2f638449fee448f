// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: report, model file and C source.
#pragma once

#include "cli/command_line.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// Prints to standard output, and writes the HTML page if --report asks for it. Throws Error.
void print_report(const Report& report, const Arguments& arguments);

// Returns how the model with the limits of `memory` fits the boards of --board; empty without --board. Throws Error.
std::vector<BoardFit> fit_boards(const FileImage& image, const goldcrest_memory& memory, const Arguments& arguments);

// Writes the requested files, unless the model exceeds the budget or the board. `name` names the emitted C source.
// Returns the exit status. Throws Error.
struct Outputs {
  const FileImage& image;
  const goldcrest_memory& memory;
  const std::vector<BoardFit>& boards;
  std::string name;
};
int write_outputs(const Outputs& outputs, const Arguments& arguments);

}  // namespace goldcrest::converter
