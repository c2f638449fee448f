// SPDX-License-Identifier: Apache-2.0
// Checks the fields of the feature Prompt (FORMAT.md, "Prompts"). With a file that passes, a prompt has no end id and
// leaves a position behind it.
#include "model/model_view.h"
#include "model/validate/validator.h"

namespace goldcrest {

// Returns whether an id of the prompt is below the vocabulary's size and ends no text.
int Validator::check_prompt_ids(const flatbuffers::Vector<uint32_t>* ids, const char* name) {
  GOLDCREST_TRY(check_ids(ids, target_vocab_size_, {name, -1}));
  const format::Generation& table = *model_->generation();
  for (uint32_t i = 0; ids != nullptr && i < ids->size(); ++i) {
    bool is_end = ids->Get(i) == table.end_id();
    for (uint32_t e = 0; table.more_end_ids() != nullptr && e < table.more_end_ids()->size(); ++e) {
      is_end |= ids->Get(i) == table.more_end_ids()->Get(e);
    }
    GOLDCREST_REQUIRE_INTACT(!is_end, name, static_cast<int32_t>(i));
  }
  return GOLDCREST_OK;
}

int Validator::check_prompt() {
  const format::Generation& table = *model_->generation();
  const format::Limits& limits = *model_->limits();
  const auto* choices = table.first_choices();
  if (!has_feature(model_->features(), kFeaturePrompt)) {
    GOLDCREST_REQUIRE_INTACT(choices == nullptr && table.forced_ids() == nullptr &&
                                 table.first_suppressed_ids() == nullptr && limits.max_prefix_tokens() == 0,
                             "metadata: feature bits", -1);
    return GOLDCREST_OK;
  }
  GOLDCREST_TRY(check_prompt_ids(choices, "generation.first_choices"));
  for (uint32_t i = 1; choices != nullptr && i < choices->size(); ++i) {
    GOLDCREST_REQUIRE_INTACT(choices->Get(i - 1) < choices->Get(i), "generation.first_choices",
                             static_cast<int32_t>(i));
  }
  GOLDCREST_TRY(check_prompt_ids(table.forced_ids(), "generation.forced_ids"));
  GOLDCREST_TRY(check_ids(table.first_suppressed_ids(), target_vocab_size_, {"generation.first_suppressed_ids", -1}));
  const uint32_t n_choices = choices != nullptr ? choices->size() : 0;
  const uint32_t n_prompt = (n_choices > 0 ? 1 : 0) + (table.forced_ids() != nullptr ? table.forced_ids()->size() : 0);
  GOLDCREST_REQUIRE_INTACT(n_prompt == 0 || table.forced_first_id() < 0, "generation.forced_first_id", -1);
  GOLDCREST_REQUIRE_INTACT(n_prompt < limits.max_target_tokens(), "generation.forced_ids", -1);
  GOLDCREST_REQUIRE_INTACT(limits.max_prefix_tokens() < limits.max_target_tokens(), "limits.max_prefix_tokens", -1);
  for (uint32_t i = 0; model_->self_test() != nullptr && i < model_->self_test()->size(); ++i) {
    GOLDCREST_REQUIRE_INTACT(model_->self_test()->Get(i)->target()->size() > n_prompt, "self_test.target",
                             static_cast<int32_t>(i));
  }
  return GOLDCREST_OK;
}

}  // namespace goldcrest
