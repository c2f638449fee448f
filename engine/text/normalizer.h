// SPDX-License-Identifier: Apache-2.0
// Normalizes text for SentencePiece's segmenters: rewrites it by the model's map, collapses spaces, makes them visible.
#pragma once

#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {
// Writes the normalized text to out [capacity], which the text must not overlap, and returns its bytes;
// GOLDCREST_ERROR_TOO_LONG if it does not fit. At each place it copies the longest user-defined piece. Without such a
// piece it applies the longest rule of the map. Without a rule it copies one character, or writes U+FFFD for a byte
// that is no UTF-8. The result equals that of SentencePiece's Normalizer::Normalize (normalizer.cc at v0.1.97).
int normalize(const TokenizerView& view, TextSpan text, uint8_t* out, uint32_t capacity);

// The same by the map only, for a tokenizer with added tokens: spaces stay, or runs of them are joined.
int rewrite(const TokenizerView& view, TextSpan text, uint8_t* out, uint32_t capacity);
}  // namespace goldcrest
