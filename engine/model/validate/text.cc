// SPDX-License-Identifier: Apache-2.0
// Checks the tokenizer, the detokenizer (FORMAT.md, section 6) and the table of languages (section 18).
#include "base/exact_floats.h"
#include "model/model_view.h"
#include "model/validate/validator.h"

namespace goldcrest {
int Validator::check_tokenizer() {
  const format::Tokenizer* table = model_->tokenizer();
  if (has_feature(features_, kFeatureAddedTokens)) {
    const format::Vector<uint32_t>* const added = table == nullptr ? nullptr : table->added();
    const uint32_t n = added != nullptr ? added->size() : 0, *const words = n > kAddedHeader ? added->data() : nullptr;
    bool is_good = words != nullptr;
    if (!kHasAddedWords && is_good && needs_added_words(words))
      return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, "tokenizer.added: needs GOLDCREST_ADDED_WORDS");
    // The runs of characters, each with its end, and at least one word of a trie.
    is_good = is_good && ((words[kAddedSpaces] | words[kAddedLetters]) & 1) == 0 && words[kAddedSpaces] < n &&
              words[kAddedLetters] < n && words[kAddedSpaces] + words[kAddedLetters] + kAddedHeader < n;
    GOLDCREST_REQUIRE_INTACT(is_good, "tokenizer.added", -1);
  }
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
  const bool scored = kind == format::TokenizerKind::Unigram || kind == format::TokenizerKind::Bpe ||
                      kind == format::TokenizerKind::Subword;
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
    for (int32_t i = 0; i < 256 && !functions_.metadata_only; ++i)
      GOLDCREST_REQUIRE_INTACT(arrays.at<uint32_t>(table->byte_ids())[i] < source_vocab_size_, "tokenizer.byte_ids", i);
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
  for (uint32_t i = 0; i < n; ++i)
    GOLDCREST_REQUIRE_INTACT(offset[i] <= offset[i + 1], "detokenizer.text_offset", static_cast<int32_t>(i));
  GOLDCREST_REQUIRE_INTACT(offset[n] <= table->text_bytes(), "detokenizer.text_offset", static_cast<int32_t>(n));
  return GOLDCREST_OK;
}

namespace {
// Returns whether the side has one of its places (bit p: the place p), an id or none for each of n languages, at least
// one id, and some default or none.
[[gnu::noinline]] bool is_side_good(const LanguageSide& side, uint32_t n, uint32_t places, uint32_t vocab_size) {
  const auto place = static_cast<uint32_t>(side.place);
  if (place > 4 || (places >> place & 1) == 0 || side.n != (place == 0 ? 0 : n)) return false;
  bool has_default = side.by_default == kNoId, has_id = place == 0;
  for (uint32_t i = 0; i < side.n; ++i) {
    if (side.ids[i] == kNoId) continue;
    if (side.ids[i] >= vocab_size) return false;
    has_id = true;
    has_default |= i == side.by_default;
  }
  return has_default && has_id;
}

// Returns whether `a` comes before `b` and `b` is short enough for a name.
bool is_next_name(const char* a, const char* b) {
  const char* const begin = b;
  while (*a == *b && *a != '\0') ++a, ++b;
  if (static_cast<uint8_t>(*a) >= static_cast<uint8_t>(*b)) return false;
  while (*b != '\0') ++b;
  return b <= begin + kMaxLanguageBytes;
}
}  // namespace

int Validator::check_languages() {
  LanguagesView view;
  GOLDCREST_REQUIRE_INTACT(view_languages(file_, &view), "metadata: feature bits", -1);
  const LanguagePlace place = view.of_targets().place;
  constexpr uint32_t kSourcePlaces = 1 | 1 << 1 | 1 << 2, kTargetPlaces = 1 | 1 << 1 | 1 << 3 | 1 << 4;
  bool is_good = !has_frontend() && is_side_good(view.of_sources(), view.n, kSourcePlaces, source_vocab_size_) &&
                 is_side_good(view.of_targets(), view.n, kTargetPlaces,
                     acts_on_ids(place) ? target_vocab_size_ : source_vocab_size_) &&
                 (place != LanguagePlace::kForcedFirst || model_->generation()->forced_first_id() >= 0);
  const char* previous = "";
  for (uint32_t i = 0; is_good && i < view.n; ++i) {
    const char* const code = view_language_code(file_, i);
    is_good = is_next_name(previous, code);
    previous = code;
  }
  GOLDCREST_REQUIRE_INTACT(is_good, "languages", -1);
  return GOLDCREST_OK;
}
}  // namespace goldcrest
