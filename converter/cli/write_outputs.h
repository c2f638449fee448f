// SPDX-License-Identifier: Apache-2.0
// Report, model file and C source: what a run of the program leaves behind.
#pragma once

#include "cli/command_line.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// To standard output and, where asked for, as HTML. Throws Error.
void print_report(const Report& report, const Arguments& arguments);

// How the model with the limits of `memory` fits the boards of --board; nothing without it. Throws Error.
std::vector<BoardFit> fit_boards(const FileImage& image, const goldcrest_memory& memory, const Arguments& arguments);

// Writes what was asked for, unless the model needs more than the budget or than the board has. `name`: of the emitted
// C source. Returns the exit status. Throws Error.
struct Outputs {
  const FileImage& image;
  const goldcrest_memory& memory;
  const std::vector<BoardFit>& boards;
  std::string name;
};
int write_outputs(const Outputs& outputs, const Arguments& arguments);

}  // namespace goldcrest::converter
