// SPDX-License-Identifier: Apache-2.0
// Marian's targets begin with the zero vector, in its own files and in CTranslate2's.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Adds the next free target id as the decoder's first input. Its row is zeros, and the search never chooses it. If
// source and target share their tables, the source gets the row too.
void add_start_row(ModelSpec& spec);

}  // namespace goldcrest::converter
