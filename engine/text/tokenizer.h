// SPDX-License-Identifier: Apache-2.0
// Turns text into ids, with every kind of tokenizer.
#pragma once

#include <stdint.h>
#include "text/segment.h"

namespace goldcrest {
// Returns the number of ids; the model's source_prefix and source_suffix are not among them. GOLDCREST_ERROR_TOO_LONG
// if the ids or the normalized text do not fit; GOLDCREST_ERROR_MODEL_CORRUPT for a file whose unknown or byte ids are
// out of range.
int tokenize(const TokenizeArgs& args);

// bytes = constant + per_byte * max_source_bytes, the same on every machine. This is enough for 3 * max_source_bytes +
// 8 normalized bytes: any text of max_source_bytes fits if the model's map does not lengthen it. A shorter text may
// grow more.
struct ScratchSize {
  uint32_t constant, per_byte;
};
ScratchSize tokenizer_scratch(const TokenizerView& view);

// Returns the most steps of tokenizing with scratch for max_source_bytes: steps through tries, bytes of rules that are
// read, and comparisons of merges.
uint64_t tokenizer_steps(const TokenizerView& view, uint32_t max_source_bytes);
}  // namespace goldcrest
