// SPDX-License-Identifier: Apache-2.0
// Takes the lexicon of the following searches.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "model/validate.h"

namespace goldcrest {
void take_default_lexicon(goldcrest_engine* engine) {
  engine->options.lexicon = view_lexicon(engine->runtime.model.file, &engine->lexicon) ? &engine->lexicon : nullptr;
}
}  // namespace goldcrest

using namespace goldcrest;

namespace {
// Checks a caller's lexicon.
int check_given(const goldcrest_lexicon& lexicon, uint32_t vocab_size, goldcrest_detail* detail) {
  if constexpr (kHasShortlist) return check_lexicon(lexicon, vocab_size, GOLDCREST_ERROR_ARGUMENT, detail);
  (void)lexicon, (void)vocab_size;
  return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, "lexicon: this build lacks GOLDCREST_SHORTLIST");
}

// Takes the lexicon if the engine has memory for it.
[[maybe_unused]] int take_lexicon(goldcrest_engine* engine, const goldcrest_lexicon* lexicon) {
  goldcrest_detail& detail = *engine->detail;
  GOLDCREST_REQUIRE(
      engine->runtime.limits.lexicon != 0, GOLDCREST_ERROR_UNSUPPORTED, "lexicon: limits.lexicon is 0", -1);
  GOLDCREST_REQUIRE(engine->state != EngineState::kEncoding && engine->state != EngineState::kDecoding,
      GOLDCREST_ERROR_STATE, "set_lexicon: a search is under way", -1);
  if (lexicon == nullptr) {
    take_default_lexicon(engine);
  } else if (lexicon->n_nodes == 0) {
    engine->options.lexicon = nullptr;
  } else {
    const goldcrest_lexicon given = *lexicon;
    GOLDCREST_TRY(check_given(given, engine->runtime.model.vocab_size, &detail));
    engine->lexicon = given;
    engine->options.lexicon = &engine->lexicon;
  }
  return GOLDCREST_OK;
}
}  // namespace

extern "C" {

int goldcrest_check_lexicon(const goldcrest_lexicon* lexicon, uint32_t vocab_size, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(lexicon != nullptr, GOLDCREST_ERROR_ARGUMENT, "lexicon: null", -1);
  return check_given(*lexicon, vocab_size, detail);
}

int goldcrest_set_lexicon(goldcrest_engine* engine, const goldcrest_lexicon* lexicon) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  if constexpr (kHasShortlist) return take_lexicon(engine, lexicon);
  return check_given({}, 0, engine->detail);
}

}  // extern "C"
