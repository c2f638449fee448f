// SPDX-License-Identifier: Apache-2.0
// --keep-vocabulary and --keep-vocabulary-of: which entries of the vocabulary stay, and what texts lose by that.
#pragma once

#include "cli/before_work.h"
#include "cli/draft.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Leaves the entries that the options keep in `spec`, whose file is `whole` as long as it has them all; says in its
// warnings what texts lose. Throws Error.
TrimmedVocabulary keep_vocabulary(const UserLines& lines, const Arguments& arguments, Draft& whole, ModelSpec& spec);

}  // namespace goldcrest::converter
