// SPDX-License-Identifier: Apache-2.0
// --keep-vocabulary, --keep-vocabulary-of and --keep-languages: which entries of the vocabulary stay, and how this
// changes texts.
#pragma once

#include "cli/in_memory_model.h"
#include "cli/preflight.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Removes all entries from `spec` that the options do not keep. `whole` is the model with all entries. Adds warnings
// about characters and tokens that texts lose. Throws Error.
TrimmedVocabulary keep_vocabulary(const UserLines& lines, const Arguments& arguments, InMemoryModel& whole,
                                  ModelSpec& spec);

}  // namespace goldcrest::converter
