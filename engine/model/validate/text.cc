// SPDX-License-Identifier: Apache-2.0
// Checks the tokenizer and the detokenizer (FORMAT.md, section 6).
#include "model/validate/validator.h"

namespace goldcrest {

int Validator::check_tokenizer() {
  const format::Tokenizer* table = model_->tokenizer();
  if (table == nullptr) return GOLDCREST_OK;
  const SectionView& arrays = section(format::SectionKind::Tokenizer);
  GOLDCREST_REQUIRE_INTACT(table->kind() <= last_kind(), "tokenizer.kind", -1);
  GOLDCREST_REQUIRE_INTACT(table->vocab_size() == source_vocab_size_ && table->unknown_id() < source_vocab_size_ &&
                               table->n_pieces() >= source_vocab_size_ && table->n_pieces() <= kMaxVocabulary,
                           "tokenizer: vocabulary", -1);
  GOLDCREST_REQUIRE_INTACT(
      arrays.holds(table->trie(), 4ull * table->trie_units()) && arrays.holds(table->type(), table->n_pieces()),
      "tokenizer: pieces", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table->normalizer_trie(), 4ull * table->normalizer_trie_units()) &&
                               arrays.holds(table->normalizer_text(), table->normalizer_text_bytes()),
                           "tokenizer: normalizer", -1);
  GOLDCREST_REQUIRE_INTACT(table->max_piece_bytes() <= kMaxPieceBytes, "tokenizer.max_piece_bytes", -1);
  const format::TokenizerKind kind = table->kind();
  const bool scored = kind == format::TokenizerKind::Unigram || kind == format::TokenizerKind::Bpe || is_subword(kind);
  if (scored) {
    GOLDCREST_REQUIRE_INTACT(arrays.holds(table->score(), 4ull * table->n_pieces()), "tokenizer.score", -1);
    for (uint32_t i = 0; i < table->n_pieces() && !functions_.metadata_only; ++i) {
      GOLDCREST_REQUIRE_INTACT(in_range(arrays.at<float>(table->score())[i], -kMaxPieceScore, kMaxPieceScore),
                               "tokenizer.score", static_cast<int32_t>(i));
    }
    GOLDCREST_REQUIRE_INTACT(in_range(table->unknown_score(), -kMaxPieceScore, kMaxPieceScore) &&
                                 in_range(table->max_score(), -kMaxPieceScore, kMaxPieceScore),
                             "tokenizer.unknown_score", -1);
  }
  if (table->byte_fallback()) {
    GOLDCREST_REQUIRE_INTACT(arrays.holds(table->byte_ids(), 4 * uint64_t{256}), "tokenizer.byte_ids", -1);
    for (int32_t i = 0; i < 256 && !functions_.metadata_only; ++i) {
      GOLDCREST_REQUIRE_INTACT(arrays.at<uint32_t>(table->byte_ids())[i] < source_vocab_size_, "tokenizer.byte_ids", i);
    }
  }
  return GOLDCREST_OK;
}

int Validator::check_detokenizer() {
  const format::Detokenizer* table = model_->detokenizer();
  if (table == nullptr) return GOLDCREST_OK;
  const SectionView& arrays = section(format::SectionKind::Tokenizer);
  const uint32_t n = table->n_pieces();
  GOLDCREST_REQUIRE_INTACT(table->kind() <= last_kind() && n == target_vocab_size_, "detokenizer: vocabulary", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table->text_offset(), 4 * (uint64_t{n} + 1)) &&
                               arrays.holds(table->text(), table->text_bytes()) && arrays.holds(table->type(), n),
                           "detokenizer: pieces", -1);
  if (functions_.metadata_only) return GOLDCREST_OK;
  const uint32_t* offset = arrays.at<uint32_t>(table->text_offset());
  for (uint32_t i = 0; i < n; ++i) {
    GOLDCREST_REQUIRE_INTACT(offset[i] <= offset[i + 1], "detokenizer.text_offset", static_cast<int32_t>(i));
  }
  GOLDCREST_REQUIRE_INTACT(offset[n] <= table->text_bytes(), "detokenizer.text_offset", static_cast<int32_t>(n));
  return GOLDCREST_OK;
}

}  // namespace goldcrest
