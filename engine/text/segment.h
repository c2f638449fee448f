// SPDX-License-Identifier: Apache-2.0
// Cuts a text in which no added tokens are searched, with the segmenter of the tokenizer's kind.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/build_options.h"
#include "text/token_writer.h"

namespace goldcrest {
struct TokenizeArgs {
  const TokenizerView* view;
  const char* text;  // [text_bytes] any bytes; a byte that is no UTF-8 counts as U+FFFD
  size_t text_bytes;
  void* scratch;         // [scratch_bytes] aligned for float; may be null when scratch_bytes is 0
  size_t scratch_bytes;  // see tokenizer_scratch
  int32_t* ids;          // [max_ids] written from the front
  size_t max_ids;
  const uint32_t* language = nullptr;        // entry to put before a text without a language code; null: none
  goldcrest_token_function visit = nullptr;  // called for each token; null: nobody asks
  void* visit_context = nullptr;
};

// Returns the entry of the language code that a text begins with; kNoEntry if there is none.
uint32_t find_language_code(const TokenizerView& view, TextSpan text);

// Writes the ids of a whole text, or of a part between added tokens: its language code, then its pieces. It reads
// the view and the scratch of the arguments.
int tokenize_part(const TokenizeArgs& args, TextSpan part, TokenWriter* writer);

constexpr bool merges(TokenizerKind kind) { return kind == TokenizerKind::kBpe || is_subword(kind); }
}  // namespace goldcrest
