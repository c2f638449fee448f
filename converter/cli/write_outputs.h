// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: report, model file and C source.
#pragma once

#include <functional>
#include <string>
#include "cli/command_line.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {
// Prints to standard output, with the names of written files.
void print_report(const Report& report, const ReportOptions& options, const std::vector<std::string>& written);
void print_written(const std::vector<std::string>& written);
// Writes the page of --report, if it is asked for. Throws Error.
void write_page(const Report& report, const ReportOptions& options);

// Returns how the model with the limits of `memory` fits the boards of --board; empty without --board. Throws Error.
std::vector<BoardFit> fit_boards(
    const WriteOptions& options, const FileImage& image, const goldcrest_memory& memory, const std::string& input);

// The reason why no file may be written. kSuccess: there is none.
struct Refusal {
  ExitStatus status = kSuccess;
  std::string text;
};

struct Outputs {
  const std::string& input;
  const FileImage& image;
  const goldcrest_memory& memory;
  const std::vector<BoardFit>& boards;
  std::string name;  // names the emitted C source
  Refusal refusal = {};
};

// Writes the requested files, unless the outputs are refused or the model exceeds the budget or the board. Then calls
// `report` with their names; it prints. The files stay if the report cannot be printed. Returns the exit status. Throws
// Error.
int write_outputs(const WriteOptions& options, const Outputs& outputs,
    const std::function<void(const std::vector<std::string>& written)>& report);
}  // namespace goldcrest::converter
