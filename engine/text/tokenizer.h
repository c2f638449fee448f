// SPDX-License-Identifier: Apache-2.0
// Turns text into ids, with every kind of tokenizer.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {

class TokenWriter;

struct TokenizeArgs {
  const TokenizerView* view;
  const char* text;  // [text_bytes] any bytes; a byte that is no UTF-8 counts as U+FFFD
  size_t text_bytes;
  void* scratch;         // [scratch_bytes] aligned for float; may be null when scratch_bytes is 0
  size_t scratch_bytes;  // see tokenizer_scratch
  int32_t* ids;          // [max_ids] written from the front
  size_t max_ids;
  const uint32_t* language = nullptr;  // entry to put before a text without a language code; null: none
};

// Returns the number of ids; the model's source_prefix and source_suffix are not among them. GOLDCREST_ERROR_TOO_LONG
// if the ids or the normalized text do not fit; GOLDCREST_ERROR_MODEL_CORRUPT for a file whose unknown or byte ids are
// out of range.
int tokenize(const TokenizeArgs& args);

// Writes the ids of a text between added tokens, or of a whole text without them.
int tokenize_part(const TokenizeArgs& args, TextSpan part, TokenWriter* writer);

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
