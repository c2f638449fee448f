// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: report, model file and C source.
#pragma once

#include <functional>
#include <string>

#include "cli/command_line.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// Prints to standard output.
void print_report(const Report& report, const Arguments& arguments);
// Writes the page of --report, if it is asked for. Throws Error.
void write_page(const Report& report, const Arguments& arguments);

// Returns how the model with the limits of `memory` fits the boards of --board; empty without --board. Throws Error.
std::vector<BoardFit> fit_boards(const FileImage& image, const goldcrest_memory& memory, const Arguments& arguments);

// The reason why no file may be written. kSuccess: there is none.
struct Refusal {
  ExitStatus status = kSuccess;
  std::string text;
};

struct Outputs {
  const FileImage& image;
  const goldcrest_memory& memory;
  const std::vector<BoardFit>& boards;
  std::string name;  // of the emitted C source
  Refusal refusal = {};
};

// Writes the requested files, unless the outputs are refused or the model exceeds the budget or the board. Then calls
// `report`, which prints. The files stay if the report cannot be printed. Returns the exit status. Throws Error.
int write_outputs(const Outputs& outputs, const Arguments& arguments, const std::function<void()>& report);

}  // namespace goldcrest::converter
