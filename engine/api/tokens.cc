// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "goldcrest/tokens.h"
#include "base/status.h"
#include "model/model_view.h"

using namespace goldcrest;

static uint8_t cutting_of(TokenizerKind kind) { return static_cast<uint8_t>(static_cast<uint8_t>(kind) + 1); }
static_assert(static_cast<int>(TokenizerKind::kSubword) + 1 == GOLDCREST_CUT_SUBWORDS);

extern "C" {

int goldcrest_get_text_traits(
    const void* model, size_t model_bytes, goldcrest_text_traits* traits, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(traits != nullptr, GOLDCREST_ERROR_ARGUMENT, "traits: null", -1);
  *traits = {};
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  TokenizerView tokenizer;
  if (view_tokenizer(model, &tokenizer)) {
    traits->source = cutting_of(tokenizer.kind);
    traits->has_codes = tokenizer.language_codes;
  }
  DetokenizerView detokenizer;
  if (view_detokenizer(model, &detokenizer)) {
    traits->target = cutting_of(detokenizer.kind);
    traits->target_adds_space = detokenizer.add_dummy_prefix;
  }
  LanguagesView languages;
  if (view_languages(model, &languages)) {
    const LanguageSide &sources = languages.of_sources(), &targets = languages.of_targets();
    traits->lacks_source_default = sources.n > 0 && sources.by_default == kNoId;
    traits->lacks_target_default = targets.n > 0 && targets.by_default == kNoId;
    traits->target_acts_on_ids = acts_on_ids(targets.place);
  }
  const GenerationView generation = view_generation(model);
  traits->source_end = generation.source_suffix;
  traits->n_source_end = generation.n_suffix;
  traits->forced = generation.forced_ids;
  traits->unknown_heads = generation.unknown_heads;
  traits->unknown_layer = generation.unknown_layer;
  traits->alignment_heads = generation.alignment_heads.ids;
  traits->n_alignment_heads = generation.alignment_heads.n;
  traits->first_timestamp = generation.first_timestamp;
  if (generation.forced_first_id < 0) traits->n_forced = generation.n_prompt - (generation.first_choices.n > 0 ? 1 : 0);
  return GOLDCREST_OK;
}

int goldcrest_target_tokens(const void* model, size_t model_bytes, goldcrest_token_function visit, void* visit_context,
    goldcrest_detail* detail) {
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  DetokenizerView view;
  if (!view_detokenizer(model, &view)) return 0;
  for (uint32_t id = 0; id < view.n_pieces; ++id) {
    const uint32_t begin = view.text_offset[id], end = view.text_offset[id + 1];
    GOLDCREST_REQUIRE(begin <= end && end <= view.text_bytes, GOLDCREST_ERROR_MODEL_CORRUPT,
        "detokenizer: a text is outside of the texts", static_cast<int32_t>(id));
    const goldcrest_token token = {static_cast<int32_t>(id), view.type[id], view.text + begin, end - begin};
    if (visit != nullptr) visit(visit_context, &token);
  }
  return static_cast<int>(view.n_pieces);
}

}  // extern "C"
