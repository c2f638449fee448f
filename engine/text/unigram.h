// SPDX-License-Identifier: Apache-2.0
// Finds the best segmentation of the unigram language model, with SentencePiece's arithmetic and ties.
#pragma once

#include <stddef.h>
#include "text/token_writer.h"

namespace goldcrest {
// Scratch for each normalized byte: a float score, a uint16 length and the byte. The start needs one more score and
// length.
constexpr uint32_t kUnigramScratchPerByte = 7;
constexpr uint32_t kUnigramScratchFixed = 6;

// Steps at each normalized byte in addition to those of the longest piece that starts there: an unknown character, and
// the byte's part in the lookups of the best path's pieces and runs of unknowns.
constexpr uint32_t kUnigramLookups = 3;

// Normalizes and segments the text. scratch [scratch_bytes] must be aligned for float. Returns 0 or an error;
// GOLDCREST_ERROR_TOO_LONG if the normalized text is longer than
// (scratch_bytes - kUnigramScratchFixed) / kUnigramScratchPerByte. Time is O(normalized bytes x longest piece).
int tokenize_unigram(
    const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes, TokenWriter* writer);
}  // namespace goldcrest
