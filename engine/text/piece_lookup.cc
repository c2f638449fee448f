// SPDX-License-Identifier: Apache-2.0
// Walks over the piece trie. A value that is no entry counts as no piece.
#include "base/exact_floats.h"
#include "text/piece_lookup.h"
#include "base/arithmetic.h"
#include "base/bounds.h"

namespace goldcrest {
uint32_t piece_search_bytes(const TokenizerView& view, TextSpan text) {
  return smaller(smaller(view.max_piece_bytes, kMaxPieceBytes), text.n);
}

uint32_t find_piece(const TokenizerView& view, TextSpan text) {
  if (text.n == 0 || text.n > piece_search_bytes(view, text)) return kNoEntry;
  const DoubleArray trie = piece_trie(view);
  uint32_t node = 0;
  for (uint32_t i = 0; i < text.n; ++i)
    if (!step_trie(trie, text.bytes[i], &node)) return kNoEntry;
  uint32_t entry = 0;
  return view_trie_value(trie, node, &entry) && entry < view.n_pieces ? entry : kNoEntry;
}

uint32_t user_defined_bytes(const TokenizerView& view, TextSpan text) {
  if (!view.has_user_defined) return 0;
  const DoubleArray trie = piece_trie(view);
  const uint32_t most = piece_search_bytes(view, text);
  uint32_t node = 0, entry = 0, longest = 0;
  for (uint32_t i = 0; i < most && step_trie(trie, text.bytes[i], &node); ++i)
    if (view_trie_value(trie, node, &entry) && entry < view.n_pieces &&
        piece_type(view, entry) == PieceType::kUserDefined)
      longest = i + 1;
  return longest;
}
}  // namespace goldcrest
