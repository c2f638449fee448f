// SPDX-License-Identifier: Apache-2.0
#include "tokenizers/segmenter.h"
#include "spec/error.h"
#include "text/tokenizer.h"

namespace goldcrest::converter {
TokenizerView view_of(const PackedTokenizer& packed) {
  TokenizerView view = {};
  view.kind = static_cast<goldcrest::TokenizerKind>(packed.kind);
  view.byte_fallback = packed.byte_fallback;
  view.add_dummy_prefix = packed.add_dummy_prefix;
  view.remove_extra_whitespace = packed.remove_extra_whitespace;
  view.escape_whitespace = packed.escape_whitespace;
  view.whitespace_as_suffix = packed.whitespace_as_suffix;
  view.language_codes = packed.language_codes;
  view.has_user_defined = packed.has_user_defined;
  view.vocab_size = packed.vocab_size;
  view.n_pieces = packed.n_pieces;
  view.trie = packed.trie.data();
  view.trie_units = static_cast<uint32_t>(packed.trie.size());
  view.score = packed.score.data();
  view.type = packed.type.data();
  view.byte_ids = packed.byte_ids.data();
  view.normalizer_trie = packed.normalizer_trie.data();
  view.normalizer_trie_units = static_cast<uint32_t>(packed.normalizer_trie.size());
  view.normalizer_text = packed.normalizer_text.data();
  view.normalizer_text_bytes = static_cast<uint32_t>(packed.normalizer_text.size());
  view.unknown_id = packed.unknown_id;
  view.max_piece_bytes = packed.max_piece_bytes;
  view.unknown_score = packed.unknown_score;
  view.max_score = packed.max_score;
  view.added = packed.added.empty() ? nullptr : packed.added.data();
  view.n_added = static_cast<uint32_t>(packed.added.size());
  return view;
}

std::vector<int32_t> Segmenter::encode(std::string_view text) const {
  constexpr size_t kMostGrowth = 16;  // a text's growth by the normalizer's rules
  constexpr size_t kIdsPerByte = 48;  // 3 normalized bytes per byte, each an id, times the growth
  const TokenizerView view = view_of(packed_);
  const ScratchSize size = tokenizer_scratch(view);
  const size_t scratch_bytes = size.constant + size.per_byte * (text.size() * kMostGrowth);
  std::vector<float> scratch(scratch_bytes / sizeof(float) + 1);
  std::vector<int32_t> ids(text.size() * kIdsPerByte + 8);
  const int n = tokenize({&view, text.data(), text.size(), scratch.data(), scratch_bytes, ids.data(), ids.size()});
  if (n < 0) throw Error("a text of {} bytes is too long for the tokenizer", text.size());
  ids.resize(static_cast<size_t>(n));
  return ids;
}
}  // namespace goldcrest::converter
