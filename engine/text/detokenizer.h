// SPDX-License-Identifier: Apache-2.0
// Turns ids into text, a few at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "goldcrest/tokens.h"
#include "model/tokenizer_view.h"

namespace goldcrest {
// Implements goldcrest_detokenize. kUnigram and kBpe follow SentencePiece's Decode (sentencepiece_processor.cc at
// v0.1.97): U+2581 becomes a space, the first one is dropped, byte pieces are joined to UTF-8. kWord: words with single
// spaces between them. kCharacter: characters one after another. kSubword: pieces one after another, some of which end
// with the space between two words. Control ids print nothing. GOLDCREST_ERROR_TOKEN_RANGE for an id outside
// [0, n_pieces), which leaves state and out unchanged.
int64_t detokenize(const DetokenizerView& view, goldcrest_text_state* state, const int32_t* tokens, size_t n, char* out,
    size_t capacity);

// Implements goldcrest_detokenize_token for a piece of text.
int64_t detokenize_piece(
    const DetokenizerView& view, goldcrest_text_state* state, const goldcrest_token& token, char* out, size_t capacity);
}  // namespace goldcrest
