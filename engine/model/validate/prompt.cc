// SPDX-License-Identifier: Apache-2.0
// Checks the fields of the feature Prompt (FORMAT.md, section 13). With a file that passes, a prompt has no end id and
// leaves a position behind it.
#include "base/exact_floats.h"

#include "model/validate/validator.h"

namespace goldcrest {
namespace {

[[maybe_unused, gnu::cold]] bool contains(const format::Vector<uint32_t>* ids, uint32_t id) {
  for (uint32_t i = 0; ids != nullptr && i < ids->size(); ++i) {
    if (ids->at(i) == id) return true;
  }
  return false;
}

[[gnu::cold]] bool ends_texts(const format::Generation& table, uint32_t id) {
  if constexpr (kHasRules) {
    if (contains(table.more_end_ids(), id)) return true;
  }
  return id == table.end_id();
}

// Returns list `l` of the prompt's ids: the first choices, the forced ids, the first suppressed ids.
[[gnu::cold]] const format::Vector<uint32_t>* list_of(const format::Generation& table, uint32_t l) {
  const uint32_t field = format::Generation::VT_FIRST_CHOICES + 2 * l;
  return table.content<format::Vector<uint32_t>>(static_cast<format::Slot>(field));
}
static_assert(format::Generation::VT_FORCED_IDS == format::Generation::VT_FIRST_CHOICES + 2 &&
              format::Generation::VT_FIRST_SUPPRESSED_IDS == format::Generation::VT_FIRST_CHOICES + 4);

}  // namespace

int Validator::check_prompt() {
  const format::Generation& table = *model_->generation();
  const format::Limits& limits = *model_->limits();
  bool is_used = limits.max_prefix_tokens() != 0, is_good = limits.max_prefix_tokens() < limits.max_target_tokens();
  uint32_t n_prompt = 0;
  for (uint32_t l = 0; l < 3; ++l) {
    const format::Vector<uint32_t>* ids = list_of(table, l);
    if (ids == nullptr) continue;
    is_used = true;
    GOLDCREST_TRY(check_ids(ids, target_vocab_size_, {"generation: prompt", static_cast<int32_t>(l)}));
    if (l == 2) continue;
    for (uint32_t i = 0; i < ids->size(); ++i) {
      const uint32_t id = ids->at(i);
      is_good &= !ends_texts(table, id) && (l == 1 || i == 0 || ids->at(i - 1) < id);
      n_prompt += l == 1 || i == 0 ? 1 : 0;
    }
  }
  GOLDCREST_REQUIRE_INTACT(!is_used || has_feature(model_->features(), kFeaturePrompt), "metadata: feature bits", -1);
  is_good &= n_prompt < limits.max_target_tokens() && (n_prompt == 0 || table.forced_first_id() < 0);
  for (uint32_t i = 0; model_->self_test() != nullptr && i < model_->self_test()->size(); ++i) {
    is_good &= model_->self_test()->at(i)->target()->size() > n_prompt;
  }
  GOLDCREST_REQUIRE_INTACT(is_good, "generation: prompt", -1);
  return GOLDCREST_OK;
}

}  // namespace goldcrest
