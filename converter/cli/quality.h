// SPDX-License-Identifier: Apache-2.0
// --check and --evaluate: measure the conversion's quality with the user's own samples and lines.
#pragma once

#include <optional>
#include <string>
#include "cli/command_line.h"
#include "cli/write_outputs.h"
#include "file/write.h"
#include "report/engine_session.h"
#include "report/report.h"

namespace goldcrest::converter {
// Returns what --check found: whether the float reference agrees with the samples, and the text. Throws Error.
std::pair<bool, std::string> run_check(Job& job);

// Warns of lines of --evaluate that begin with a >>xx<< which the vocabulary lacks, once for each code. target_lang:
// the option.
void warn_of_language_codes(const std::string& target_lang, Job& job);

// Warns once of sources of --ids that lack the end of the model's sources.
void warn_of_missing_ends(Job& job);

// Returns the kind of the sources of --evaluate.
Lines kind_of_lines(const Job& job);

// Makes sources of the paths of clips and images, which begin in the folder of the list, and words of what is spoken.
void prepare_sources(const Job& job, std::vector<EvaluationLine>& lines);

// Evaluates the user's lines and stores the result in the report. Throws Error.
void run_evaluation(const MeasureOptions& options, const FileImage& image, Job& job, Report* report);

// Returns how many of the evaluation's lines have float32's results in a search with these flags.
size_t count_identical(
    const MeasureOptions& options, const FileImage& image, Job& job, const Report& report, uint32_t flags);

// Compares the results of a whole model and of a part of it, with the report's limits.
Agreement run_agreement(const MeasureOptions& options, std::pair<const FileImage&, const FileImage&> whole_and_part,
    Job& job, const Report& report);

// Refuses an int8 model that lost more than --max-loss, and lines that cannot tell. If it lost less, the text says so.
Refusal refuse_loss(const Evaluation& evaluation, const MeasureOptions& options);
}  // namespace goldcrest::converter
