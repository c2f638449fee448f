// SPDX-License-Identifier: Apache-2.0
// Checks the fields of the feature Prompt (FORMAT.md, section 13). With a file that passes, a prompt has no end id and
// leaves a position after it.
#include "base/exact_floats.h"
#include "base/arithmetic.h"
#include "model/validate/validator.h"

namespace goldcrest {
namespace {
bool contains(const format::Vector<uint32_t>* ids, uint32_t id) {
  for (uint32_t i = 0; ids != nullptr && i < ids->size(); ++i)
    if (ids->at(i) == id) return true;
  return false;
}

bool ends_texts(const format::Generation& table, uint32_t id) {
  return id == table.end_id() || contains(table.more_end_ids(), id);
}
}  // namespace

int Validator::check_prompt() {
  const format::Generation& table = *model_->generation();
  const format::Limits& limits = *model_->limits();
  const uint32_t most = limits.max_target_tokens(), most_given = limits.max_prefix_tokens();
  const format::Vector<uint32_t>* const lists[] = {
      table.first_choices(), table.forced_ids(), table.first_suppressed_ids()};
  bool is_good = most_given < most;
  uint32_t n_prompt = 0;
  for (int32_t l = 0; l < 3; ++l) {
    const format::Vector<uint32_t>* const ids = lists[l];
    if (ids == nullptr) continue;
    GOLDCREST_TRY(check_ids(ids, target_vocab_size_, "generation: prompt", l));
    if (l == 2) break;
    n_prompt += l == 0 ? smaller<uint32_t>(ids->size(), 1) : ids->size();
    uint32_t least = 0;
    for (uint32_t id : *ids) {
      is_good &= id >= least && !ends_texts(table, id);
      if (l == 0) least = id + 1;  // first choices ascend
    }
  }
  is_good &= n_prompt < most && (n_prompt == 0 || table.forced_first_id() < 0);
  if (kHasTimestamps && has_feature(features_, kFeatureTimestamps)) {
    const uint32_t times = table.first_timestamp(),
                   n_forced = table.forced_ids() != nullptr ? table.forced_ids()->size() : 0;
    is_good &= times < target_vocab_size_ && table.max_first_timestamp() < target_vocab_size_ - times && n_forced > 0 &&
               table.forced_ids()->at(n_forced - 1) + 1 == times && table.end_id() < times &&
               has_feature(features_, kFeatureFrontend) && !has_feature(features_, kFeatureShortlist);
  }
  const auto* const lines = model_->self_test();
  for (uint32_t i = 0; lines != nullptr && i < lines->size(); ++i) is_good &= lines->at(i)->target()->size() > n_prompt;
  return is_good ? GOLDCREST_OK : refuse({"generation: prompt", -1});
}
}  // namespace goldcrest
