// SPDX-License-Identifier: Apache-2.0
// T5 and its relatives: weights and settings are in t5.cc, tokenizers in t5_text.cc.
#pragma once

#include "dialects/way_in.h"

namespace goldcrest::converter {
extern const ConfigFamily kT5Family, kMT5Family, kUmT5Family;

// Returns whether the checkpoint reads bytes, as ByT5 does.
bool reads_bytes(const Checkpoint& checkpoint);

// Returns the ids of the longest source of a Chronos (chronos_config), whose ids are bins of numbers; else 0.
uint32_t chronos_positions(const Config& config);

// Reads the tokenizer, and the ids after a source. Suppresses the rows of the tables that no entry names.
void read_t5_text(const Checkpoint& checkpoint, uint32_t vocab_size, ModelSpec& spec);
}  // namespace goldcrest::converter
