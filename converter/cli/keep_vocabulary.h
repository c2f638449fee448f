// SPDX-License-Identifier: Apache-2.0
// --keep-vocabulary and --keep-vocabulary-of: which entries of the vocabulary stay, and what texts lose by that.
#pragma once

#include "cli/in_memory_model.h"
#include "cli/preflight.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Leaves the entries that the options keep in `spec`, whose file is `whole` as long as it has them all; says in its
// warnings what texts lose. Throws Error.
TrimmedVocabulary keep_vocabulary(const UserLines& lines, const Arguments& arguments, InMemoryModel& whole,
                                  ModelSpec& spec);

}  // namespace goldcrest::converter
