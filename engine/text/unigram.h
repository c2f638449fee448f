// SPDX-License-Identifier: Apache-2.0
// The unigram language model's best segmentation, with SentencePiece's arithmetic and ties.
#pragma once

#include <cstddef>

#include "text/token_writer.h"

namespace goldcrest {

// For each normalized byte: a float score, a uint16 length and the byte; one more score and length for the start.
constexpr uint32_t kUnigramScratchPerByte = 7;
constexpr uint32_t kUnigramScratchFixed = 6;

// Steps at each normalized byte beside those of the longest piece that starts there: an unknown character, and the
// byte's part in the lookups of the best path's pieces and runs of unknowns.
constexpr uint32_t kUnigramLookups = 3;

// Normalizes and segments the text. scratch [scratch_bytes] is aligned for float; normalized text longer than
// (scratch_bytes - kUnigramScratchFixed) / kUnigramScratchPerByte gives GOLDCREST_ERROR_TOO_LONG.
// Time is O(normalized bytes x longest piece). Returns 0 or an error.
int tokenize_unigram(const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes,
                     TokenWriter* writer);

}  // namespace goldcrest
