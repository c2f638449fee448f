// SPDX-License-Identifier: Apache-2.0
// --make-shortlist: a shortlist from a text for a model that has none, and how it does on lines that it has not seen.
#pragma once

#include "cli/in_memory_model.h"
#include "cli/preflight.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Gives `spec`, whose file is `model`, a shortlist. Throws Error.
ShortlistFromText make_shortlist_from_text(const UserLines& lines, const Arguments& arguments, InMemoryModel& model,
                                           Progress& progress, ModelSpec& spec);

}  // namespace goldcrest::converter
