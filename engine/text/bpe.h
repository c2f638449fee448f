// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding with SentencePiece's merge order and ties, or with subword-nmt's merges of pairs.
#pragma once

#include <cstddef>

#include "text/token_writer.h"

namespace goldcrest {

// For each normalized byte: a uint32 key, two uint16 and the byte.
constexpr uint32_t kBpeScratchPerByte = 9;

// Positions are uint16, so no more of scratch is used than for this many normalized bytes.
constexpr uint32_t kBpeMaxNormalizedBytes = 65535;

// At each normalized byte at most: as many lookups or scans of a piece (a user-defined one; its first pair, the two
// pairs that a merge changes; what it is when written, where an unused one is split, its part), and comparisons in the
// tree of pairs.
// With subwords further comparisons find the next pair alike, two at each of 17 levels.
constexpr uint32_t kBpePieceLookups = 7, kBpeComparisons = 53, kSubwordComparisons = 34;

// Normalizes and segments the text. scratch [scratch_bytes] is aligned for uint32; normalized text longer than
// scratch_bytes / kBpeScratchPerByte, or than kBpeMaxNormalizedBytes, gives GOLDCREST_ERROR_TOO_LONG.
// Time is O(n log n + n x longest piece) in normalized bytes. Returns 0 or an error.
int tokenize_bpe(const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes, TokenWriter* writer);

}  // namespace goldcrest
