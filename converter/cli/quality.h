// SPDX-License-Identifier: Apache-2.0
// --check and --evaluate: measure the conversion's quality with the user's own samples and lines.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/preflight.h"
#include "cli/progress.h"
#include "cli/write_outputs.h"
#include "evaluate/deviation.h"
#include "file/write.h"
#include "report/engine_session.h"
#include "report/report.h"

namespace goldcrest::converter {

// Prints what --check found, and returns it if the float reference agrees with the samples. Throws Error.
std::optional<std::string> run_check(const ModelSpec& spec, const Arguments& arguments, Progress& progress);

// Warns of lines of --evaluate that begin with a >>xx<< which the vocabulary lacks, once for each code.
void warn_of_language_codes(const std::vector<EvaluationLine>& lines, const Arguments& arguments, ModelSpec& spec);

// Warns once of sources of --ids that lack the end of the model's sources.
void warn_of_missing_ends(const UserLines& lines, const Arguments& arguments, ModelSpec& spec);

// Returns the kind of the sources of --evaluate.
Lines kind_of(const ModelSpec& spec, const Arguments& arguments);

// Makes sources of paths that begin in the folder of the list, and words of references.
void prepare_clips(const std::string& list, std::vector<EvaluationLine>& lines);

// Evaluates the report's lines and stores the result in the report. Throws Error.
void run_evaluation(const FileImage& image, const goldcrest_limits& file_limits, const Arguments& arguments,
                    Progress& progress, Report* report);

// Returns how many of the evaluation's lines have float32's results in a coarse search.
size_t count_identical(const FileImage& image, const goldcrest_limits& limits, const Arguments& arguments,
                       Progress& progress, const Report& report);

// Two files of one model, and the limits for both.
struct Compared {
  const FileImage &whole, &part;
  const goldcrest_limits& limits;
};
Agreement run_agreement(const Compared& files, const UserLines& lines, const Arguments& arguments, Progress& progress);

// Refuses an int8 model that lost more than --max-loss, and lines that cannot tell.
Refusal refuse_loss(const Evaluation& evaluation, const Arguments& arguments);

}  // namespace goldcrest::converter
