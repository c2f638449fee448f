// SPDX-License-Identifier: Apache-2.0
// Checks the tokenizer, the detokenizer (FORMAT.md, section 6) and the table of languages (section 18).
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

#ifdef GOLDCREST_LANGUAGES

namespace {

using Ids = flatbuffers::Vector<uint32_t>;

// One side of a table of languages.
struct LanguageSide {
  const Ids* id;
  uint8_t place;
  uint32_t vocab_size;
  int32_t by_default;
};

bool comes_before(const char* a, const char* b) {
  while (*a == *b && *a != '\0') ++a, ++b;
  return static_cast<uint8_t>(*a) < static_cast<uint8_t>(*b);
}

// Returns whether the side has an id or none for each of n languages, and some default or none. *chosen <- the id of
// the default, else the first id.
[[gnu::cold, gnu::noinline]] bool is_side_good(const LanguageSide& side, uint32_t n, uint32_t* chosen) {
  const uint32_t n_ids = side.id != nullptr ? side.id->size() : 0;
  if (side.place == 0) return n_ids == 0 && side.by_default == -1;
  if (n_ids != n) return false;
  *chosen = UINT32_MAX;
  for (uint32_t i = n; i-- > 0;) {
    const uint32_t id = side.id->Get(i);
    if (id == UINT32_MAX) continue;
    if (id >= side.vocab_size) return false;
    *chosen = id;
  }
  if (side.by_default == -1) return *chosen != UINT32_MAX;
  if (static_cast<uint32_t>(side.by_default) >= n) return false;
  *chosen = side.id->Get(static_cast<uint32_t>(side.by_default));
  return *chosen != UINT32_MAX;
}

}  // namespace

int Validator::check_languages() {
  const format::Languages* table = model_->languages();
  const auto* self_test = model_->self_test();
  const uint32_t n_lines = self_test != nullptr ? self_test->size() : 0;
  GOLDCREST_REQUIRE_INTACT((table != nullptr) == has_feature(model_->features(), kFeatureLanguages),
                           "metadata: feature bits", -1);
  bool is_good = true, is_forced = false;
  if (table != nullptr) {
    const format::Generation& generation = *model_->generation();
    const uint8_t source_place = table->source_place(), target_place = table->target_place();
    const uint32_t n = table->code() != nullptr ? table->code()->size() : 0;
    const char* previous = "";
    is_forced = target_place == 3;
    is_good = !has_frontend() && n <= kMaxLanguages && source_place <= 2 && target_place <= 4 && target_place != 2 &&
              source_place + target_place > 0;
    for (uint32_t i = 0; is_good && i < n; ++i) {
      const flatbuffers::String* code = table->code()->Get(i);
      is_good = code->size() <= kMaxLanguageBytes && comes_before(previous, code->c_str());
      previous = code->c_str();
    }
    uint32_t source = 0, target = generation.decoder_start_id();
    if (is_forced) target = static_cast<uint32_t>(generation.forced_first_id());
    const uint32_t expected = target;
    is_good = is_good &&
              is_side_good({table->source(), source_place, source_vocab_size_, table->default_source()}, n, &source) &&
              is_side_good({table->target(), target_place, target_place == 1 ? source_vocab_size_ : target_vocab_size_,
                            table->default_target()},
                           n, &target);
    is_good &= target_place < 3 || target == expected;
  }
  // A line's language is the one that its first token is.
  for (uint32_t l = 0; is_good && l < n_lines; ++l) {
    const format::SelfTestLine& line = *self_test->Get(l);
    is_good = line.n_forced() == (is_forced ? 1 : 0);
    uint32_t i = 0;
    while (is_forced && i < table->target()->size() && table->target()->Get(i) != line.target()->Get(0)) ++i;
    is_good &= !is_forced || i < table->target()->size();
  }
  GOLDCREST_REQUIRE_INTACT(is_good, "languages", -1);
  return GOLDCREST_OK;
}

#endif

}  // namespace goldcrest
