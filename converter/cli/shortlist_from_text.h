// SPDX-License-Identifier: Apache-2.0
// --make-shortlist: makes a shortlist from a text for a model without one, and measures it on held-out lines.
#pragma once

#include "cli/in_memory_model.h"
#include "cli/preflight.h"
#include "report/vocabulary.h"

namespace goldcrest::converter {

// Adds a shortlist to `spec`; `model` is the file of `spec`. Throws Error.
ShortlistFromText make_shortlist_from_text(const UserLines& lines, const Arguments& arguments, InMemoryModel& model,
                                           Progress& progress, ModelSpec& spec);

}  // namespace goldcrest::converter
