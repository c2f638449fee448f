// SPDX-License-Identifier: Apache-2.0
// --check and --evaluate: how good the conversion is, by the user's own samples and lines.
#pragma once

#include "cli/before_work.h"
#include "cli/command_line.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "evaluate/agreement.h"
#include "file/write.h"
#include "report/report.h"

namespace goldcrest::converter {

// Whether the float reference agrees with the samples; says where it does not. Throws Error.
bool run_check(const ModelSpec& spec, const Arguments& arguments, Progress& progress);

// Warns of lines of --evaluate that begin with a >>xx<< which the vocabulary lacks: each such code once.
void warn_of_language_codes(const std::vector<EvaluationLine>& lines, const Arguments& arguments, ModelSpec& spec);

// Warns once of sources of --ids without the end that the model's sources have.
void warn_of_missing_ends(const UserLines& lines, const Arguments& arguments, ModelSpec& spec);

// Fills the report's evaluation of its lines. Throws Error.
void run_evaluation(const FileImage& image, const goldcrest_limits& file_limits, const Arguments& arguments,
                    Progress& progress, Report* report);

// Two files of one model, and the limits to compare them in.
struct Compared {
  const FileImage &whole, &part;
  const goldcrest_limits& limits;
};
Agreement run_agreement(const Compared& files, const UserLines& lines, const Arguments& arguments, Progress& progress);

// Refuses an int8 model that lost more than --max-loss, and lines that cannot tell.
Refusal refuse_loss(const Evaluation& evaluation, const Arguments& arguments);

}  // namespace goldcrest::converter
