// SPDX-License-Identifier: Apache-2.0
// --make-shortlist: a shortlist from a text for a model that has none, and how it does on lines that it has not seen.
#pragma once

#include "cli/before_work.h"
#include "cli/draft.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Gives `spec`, whose file is `draft`, a shortlist. Throws Error.
MadeShortlist make_shortlist_of(const UserLines& lines, const Arguments& arguments, Draft& draft, Progress& progress,
                                ModelSpec& spec);

}  // namespace goldcrest::converter
