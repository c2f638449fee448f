// SPDX-License-Identifier: Apache-2.0
// Text as SentencePiece's segmenters see it: rewritten by the model's map, spaces collapsed and made visible.
#pragma once

#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {

// Writes the normalized text to out [capacity], which the text must not overlap, and returns its bytes;
// GOLDCREST_ERROR_TOO_LONG when it does not fit. At each place the longest user-defined piece is kept as it is; else
// the longest rule of the map applies; else one character is copied, or U+FFFD written for a byte that is no UTF-8. The
// result equals that of SentencePiece's Normalizer::Normalize (normalizer.cc at v0.1.97).
int normalize(const TokenizerView& view, TextSpan text, uint8_t* out, uint32_t capacity);

}  // namespace goldcrest
