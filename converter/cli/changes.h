// SPDX-License-Identifier: Apache-2.0
// Options that change a checkpoint's outputs.
#pragma once

#include <optional>

#include "cli/in_memory_model.h"
#include "cli/preflight.h"
#include "report/vocabulary.h"
#include "report/work.h"

namespace goldcrest::converter {

// --keep-vocabulary, --keep-vocabulary-of and --keep-languages: which entries of the vocabulary stay, and how this
// changes texts. Removes all entries from `spec` that the options do not keep. `whole` is the model with all entries.
// Adds warnings about characters and tokens that texts lose. Throws Error.
TrimmedVocabulary keep_vocabulary(const UserLines& lines, const Arguments& arguments, InMemoryModel& whole,
                                  ModelSpec& spec);

// --make-shortlist: makes a shortlist from a text for a model without one, and measures it on held-out lines. Adds it
// to `spec`; `model` is the file of `spec`. Throws Error.
ShortlistFromText make_shortlist_from_text(const UserLines& lines, const Arguments& arguments, InMemoryModel& model,
                                           Progress& progress, ModelSpec& spec);

// Throws UsageError if --fine or --refine does not fit the other options.
void check_fine(const Arguments& arguments);

// Returns the share of more work that --fine auto allows; none if the option says otherwise. Throws UsageError.
std::optional<double> auto_share(const Arguments& arguments);

// Returns whether --fine centres keys: "keys" says so, and "all".
bool centres_keys(const Arguments& arguments);

// Returns the words of --fine that choose matrices.
std::vector<std::string> fine_matrices(const Arguments& arguments);

// --fine and --refine: returns the choice and its price, if anything is chosen. With `auto` it is made here: one matrix
// after the other gets fine inputs, and its gain is how much nearer the log-probabilities of results are to those with
// all of them. The results are of
// --evaluate's lines, at most 100, or of made-up ones. Throws Error.
std::optional<FineInputs> choose_fine_inputs(const UserLines& lines, const Arguments& arguments, Progress& progress,
                                             const ModelSpec& spec, Payload& payload);

}  // namespace goldcrest::converter
