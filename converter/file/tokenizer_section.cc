// SPDX-License-Identifier: Apache-2.0
// Sets fields one by one, in the schema's order. Arrays that source and target share are stored once.
#include "file/tokenizer_section.h"
#include "file/format.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
format::TokenizerKind kind_of(TokenizerKind kind) {
  switch (kind) {
    case TokenizerKind::kUnigram: return format::TokenizerKind::Unigram;
    case TokenizerKind::kBpe: return format::TokenizerKind::Bpe;
    case TokenizerKind::kWord: return format::TokenizerKind::Word;
    case TokenizerKind::kCharacter: return format::TokenizerKind::Character;
    case TokenizerKind::kSubword: return format::TokenizerKind::Subword;
  }
  throw Error("tokenizer kind {} is unknown", static_cast<int>(kind));
}

uint32_t count(size_t n) {
  if (n > UINT32_MAX) throw Error("the tokenizer is too large: an array has {} elements, more than 2^32 - 1", n);
  return static_cast<uint32_t>(n);
}
}  // namespace

std::unique_ptr<format::TokenizerT> write_tokenizer(const PackedTokenizer& packed, SectionWriter& section) {
  auto out = std::make_unique<format::TokenizerT>();
  out->kind = kind_of(packed.kind);
  out->vocab_size = packed.vocab_size;
  out->n_pieces = packed.n_pieces;
  out->trie = section.append_once(packed.trie);
  out->trie_units = count(packed.trie.size());
  out->score = section.append_once(packed.score);
  out->type = section.append_once(packed.type);
  out->byte_ids = section.append_once(packed.byte_ids);
  out->normalizer_trie = section.append_once(packed.normalizer_trie);
  out->normalizer_trie_units = count(packed.normalizer_trie.size());
  out->normalizer_text = section.append_once(packed.normalizer_text);
  out->normalizer_text_bytes = count(packed.normalizer_text.size());
  out->unknown_id = packed.unknown_id;
  out->unknown_score = packed.unknown_score;
  out->max_score = packed.max_score;
  out->max_piece_bytes = packed.max_piece_bytes;
  out->byte_fallback = packed.byte_fallback;
  out->add_dummy_prefix = packed.add_dummy_prefix;
  out->remove_extra_whitespace = packed.remove_extra_whitespace;
  out->escape_whitespace = packed.escape_whitespace;
  out->whitespace_as_suffix = packed.whitespace_as_suffix;
  out->language_codes = packed.language_codes;
  out->has_user_defined = packed.has_user_defined;
  out->added = packed.added;
  return out;
}

std::unique_ptr<format::DetokenizerT> write_detokenizer(const PackedDetokenizer& packed, SectionWriter& section) {
  auto out = std::make_unique<format::DetokenizerT>();
  out->kind = kind_of(packed.kind);
  out->n_pieces = packed.n_pieces;
  out->text_offset = section.append_once(packed.text_offset);
  out->text = section.append_once(packed.text);
  out->text_bytes = count(packed.text.size());
  out->type = section.append_once(packed.type);
  out->add_dummy_prefix = packed.add_dummy_prefix;
  out->remove_extra_whitespace = packed.remove_extra_whitespace;
  return out;
}
}  // namespace goldcrest::converter
