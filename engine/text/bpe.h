// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding with SentencePiece's merge order and ties, or with subword-nmt's merges of pairs.
#pragma once

#include <stddef.h>
#include "text/token_writer.h"

namespace goldcrest {
// Scratch for each normalized byte: a uint32 key, two uint16 and the byte.
constexpr uint32_t kBpeScratchPerByte = 9;

// The most normalized bytes of a text, because positions are uint16. Further scratch stays unused.
constexpr uint32_t kBpeMaxNormalizedBytes = 65535;

// The most work at each normalized byte. Lookups or scans of a piece: a user-defined piece; the first pair; the two
// pairs that a merge changes; the piece that is written, and the parts of an unused piece that is split. Comparisons:
// those in the tree of pairs. With subwords further comparisons find the next equal pair, two at each of 17 levels.
constexpr uint32_t kBpePieceLookups = 7, kBpeComparisons = 53, kSubwordComparisons = 34;

// Normalizes and segments the text. scratch [scratch_bytes] must be aligned for uint32. Returns 0 or an error;
// GOLDCREST_ERROR_TOO_LONG if the normalized text is longer than scratch_bytes / kBpeScratchPerByte or than
// kBpeMaxNormalizedBytes. Time is O(n log n + n x longest piece) in normalized bytes.
int tokenize_bpe(const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes, TokenWriter* writer);
}  // namespace goldcrest
