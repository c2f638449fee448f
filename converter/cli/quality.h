// SPDX-License-Identifier: Apache-2.0
// --check and --evaluate: measure the conversion's quality with the user's own samples and lines.
#pragma once

#include "cli/command_line.h"
#include "cli/preflight.h"
#include "cli/progress.h"
#include "evaluate/agreement.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// Returns true if the float reference agrees with the samples, and prints the report. Throws Error.
bool run_check(const ModelSpec& spec, const Arguments& arguments, Progress& progress);

// Warns of lines of --evaluate that begin with a >>xx<< which the vocabulary lacks, once for each code.
void warn_of_language_codes(const std::vector<EvaluationLine>& lines, const Arguments& arguments, ModelSpec& spec);

// Evaluates the report's lines and stores the result in the report. Throws Error.
void run_evaluation(const FileImage& image, const goldcrest_limits& file_limits, const Arguments& arguments,
                    Progress& progress, Report* report);

// Two files of one model, and the limits for both.
struct Compared {
  const FileImage &whole, &part;
  const goldcrest_limits& limits;
};
Agreement run_agreement(const Compared& files, const UserLines& lines, const Arguments& arguments, Progress& progress);

// Returns true, and prints an error, if int8 lost more than --max-loss. Throws Error if the lines cannot tell.
bool lost_too_much(const Evaluation& evaluation, const Arguments& arguments);

}  // namespace goldcrest::converter
