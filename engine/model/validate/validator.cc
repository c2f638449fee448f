// SPDX-License-Identifier: Apache-2.0
#include "model/validate/validator.h"

#include "model/validate.h"

namespace goldcrest {

// Each check relies on those before it.
int Validator::run() {
  GOLDCREST_TRY(check_frame());
  GOLDCREST_TRY(check_sections());
  GOLDCREST_TRY(check_stack(model_->encoder(), false, "encoder: dimensions"));
  GOLDCREST_TRY(check_stack(model_->decoder(), true, "decoder: dimensions"));
  if (!has_frontend()) source_vocab_size_ = model_->encoder()->embedding()->vocab_size();
  GOLDCREST_REQUIRE_INTACT(model_->projection() != nullptr && model_->projection()->n() <= kMaxVocabulary, "projection",
                           -1);
  target_vocab_size_ = model_->projection()->n();
  GOLDCREST_REQUIRE_INTACT(model_->decoder()->embedding()->vocab_size() == target_vocab_size_,
                           "decoder.embedding: rows", -1);
  GOLDCREST_TRY(
      check_linear(model_->projection(), target_vocab_size_, model_->decoder()->d_model(), {"projection", -1}));
  GOLDCREST_TRY(check_layers(*model_->encoder(), false));
  GOLDCREST_TRY(check_layers(*model_->decoder(), true));
  GOLDCREST_TRY(check_weights_checksum());
  GOLDCREST_TRY(check_generation());
  GOLDCREST_TRY(check_limits());
  GOLDCREST_TRY(check_tokenizer());
  GOLDCREST_TRY(check_detokenizer());
  if constexpr (kHasShortlist) GOLDCREST_TRY(check_shortlist());
  if constexpr (kHasLexicon) GOLDCREST_TRY(check_lexicon_of_file());
  GOLDCREST_TRY(check_self_tests());
  if constexpr (kHasLanguages) GOLDCREST_TRY(check_languages());
  if constexpr (kHasSequences) GOLDCREST_TRY(check_sequences());
  if constexpr (kHasPrompt) return check_prompt();
  return GOLDCREST_OK;
}

int validate_model(const void* model, size_t model_bytes, const VerifyFunctions& functions, goldcrest_detail* detail) {
  return Validator(static_cast<const uint8_t*>(model), model_bytes, functions, detail).run();
}

}  // namespace goldcrest
