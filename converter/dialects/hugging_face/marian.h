// SPDX-License-Identifier: Apache-2.0
// The interface between the two halves of the Marian dialect: weights and settings (marian.cc), tokenizers
// (marian.cc).
#pragma once

#include "dialects/way_in.h"

namespace goldcrest::converter {
extern const ConfigFamily kMarianFamily;

// Reads tokenizers, languages and the ids around a source. The sizes are the embeddings' rows.
void read_marian_text(
    const Checkpoint& checkpoint, uint32_t source_vocab_size, uint32_t target_vocab_size, ModelSpec& spec);
}  // namespace goldcrest::converter
