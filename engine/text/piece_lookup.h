// SPDX-License-Identifier: Apache-2.0
// Finds pieces of a text that are entries of the tokenizer's trie.
#pragma once

#include "model/tokenizer_view.h"
#include "text/double_array.h"
#include "text/utf8.h"

namespace goldcrest {
constexpr uint32_t kNoEntry = 0xFFFFFFFF;

inline DoubleArray piece_trie(const TokenizerView& view) { return {view.trie, view.trie_units}; }

inline PieceType piece_type(const TokenizerView& view, uint32_t entry) {
  return static_cast<PieceType>(view.type[entry]);
}

// Returns the most bytes that a search follows the trie, at most text.n.
uint32_t piece_search_bytes(const TokenizerView& view, TextSpan text);

// Returns the entry whose piece is the whole text, < n_pieces; kNoEntry if there is none.
uint32_t find_piece(const TokenizerView& view, TextSpan text);

// Returns the bytes of the longest user-defined piece at the text's start; 0 if there is none.
uint32_t user_defined_bytes(const TokenizerView& view, TextSpan text);
}  // namespace goldcrest
