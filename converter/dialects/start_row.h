// SPDX-License-Identifier: Apache-2.0
// Marian's targets begin with the zero vector, in its own files and in CTranslate2's.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Adds the target's next id, which starts the decoder: its row is zeros, and nothing ever chooses it. The source has it
// too where the tables are shared.
void add_start_row(ModelSpec& spec);

}  // namespace goldcrest::converter
