// SPDX-License-Identifier: Apache-2.0
// Report, model file and C source: what a run of the program leaves behind.
#pragma once

#include <functional>
#include <string>

#include "cli/command_line.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// To standard output.
void print_report(const Report& report, const Arguments& arguments);
// The page of --report, where it is asked for. Throws Error.
void write_page(const Report& report, const Arguments& arguments);

// How the model with the limits of `memory` fits the boards of --board; nothing without it. Throws Error.
std::vector<BoardFit> fit_boards(const FileImage& image, const goldcrest_memory& memory, const Arguments& arguments);

// Why nothing may be written; kSuccess: nothing stands against it.
struct Refusal {
  ExitStatus status = kSuccess;
  std::string text;
};

struct Output {
  const FileImage& image;
  const goldcrest_memory& memory;
  const std::vector<BoardFit>& boards;
  std::string name;  // of the emitted C source
  Refusal refusal = {};
};

// Writes the files that were asked for, unless the output is refused or needs more than the budget or the board has;
// then calls `report`, which prints. A report that cannot be printed leaves the files as they are. Returns the exit
// status. Throws Error.
int write_output(const Output& output, const Arguments& arguments, const std::function<void()>& report);

}  // namespace goldcrest::converter
