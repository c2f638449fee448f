// SPDX-License-Identifier: Apache-2.0
// Text to ids, whatever the kind of tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/tokenizer_view.h"

namespace goldcrest {

struct TokenizeArgs {
  const TokenizerView* view;
  const char* text;  // [text_bytes] any bytes; what is no UTF-8 counts as U+FFFD
  size_t text_bytes;
  void* scratch;         // [scratch_bytes] aligned for float; may be null when scratch_bytes is 0
  size_t scratch_bytes;  // see tokenizer_scratch
  int32_t* ids;          // [max_ids] written from the front
  size_t max_ids;
  const uint32_t* language = nullptr;  // the entry that a text without a language code begins with; null: none
};

// Returns the number of ids, without any that the model puts before or after a text. GOLDCREST_ERROR_TOO_LONG when the
// ids or the normalized text do not fit; GOLDCREST_ERROR_MODEL_CORRUPT for a file whose unknown or byte ids are out of
// range.
int tokenize(const TokenizeArgs& args);

// bytes = constant + per_byte * max_source_bytes, the same on every machine. That is room for 3 * max_source_bytes + 8
// normalized bytes: enough for any text of max_source_bytes that the model's map does not lengthen. Unused room helps:
// a shorter text may grow more.
struct ScratchSize {
  uint32_t constant, per_byte;
};
ScratchSize tokenizer_scratch(TokenizerKind kind);

// The most that tokenizing takes with scratch for max_source_bytes: steps through tries, bytes of rules looked at, and
// comparisons of merges.
uint64_t tokenizer_steps(const TokenizerView& view, uint32_t max_source_bytes);

}  // namespace goldcrest
