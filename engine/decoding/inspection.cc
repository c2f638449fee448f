// SPDX-License-Identifier: Apache-2.0
#include "decoding/inspection.h"

#include "decoding/search.h"

namespace goldcrest {

InspectionRefs plan_inspection(Plan& plan) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH,
                    kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  const goldcrest_limits& limits = plan.limits();
  const BufferSize of_tokens = {0, sizeof(float), {kTarget, kBeam, kBatch, 0}};
  InspectionRefs refs = {};
  if (keeps_token_scores(limits)) {
    refs.token_log_probs = plan.add("search.token_log_probs", Phase::kDecode, Region::kMain, of_tokens);
    refs.hypothesis_log_probs = plan.add("search.hypothesis_log_probs", Phase::kDecode, Region::kMain, of_tokens);
  }
  if (keeps_alignments(limits)) {
    refs.hypothesis_slots =
        plan.add("search.hypothesis_slots", Phase::kDecode, Region::kMain, {0, 1, {kTarget, kBeam, kBatch, 0}});
  }
  if (keeps_targets(limits)) {  // given before the source is encoded
    refs.targets = plan.add("targets.ids", Phase::kAlways, Region::kMain, {0, 4, {kTarget, kBatch, 0, 0}});
    refs.target_lengths = plan.add("targets.lengths", Phase::kAlways, Region::kMain, {0, 4, {kBatch, 0, 0, 0}});
  }
  return refs;
}

KeptPath kept_path(const Search& search, uint32_t sentence) {
  const Runtime& runtime = *search.runtime;
  const InspectionRefs& refs = search.refs.inspection;
  const size_t first_slot = size_t{sentence} * runtime.limits.beam_size;
  const size_t first_token = first_slot * runtime.limits.max_target_tokens;
  KeptPath kept;
  if (keeps_token_scores(runtime.limits)) {
    kept.token_log_probs = runtime.buffer<float>(refs.token_log_probs) + first_slot;
    kept.hypothesis_log_probs = runtime.buffer<float>(refs.hypothesis_log_probs) + first_token;
  }
  if (keeps_alignments(runtime.limits)) {
    kept.hypothesis_slots = runtime.buffer<uint8_t>(refs.hypothesis_slots) + first_token;
  }
  return kept;
}

void keep_log_prob(const Search& search, const SentenceView& view, uint32_t b, float log_prob) {
  if (view.kept.token_log_probs == nullptr) return;
  view.kept.token_log_probs[(search.position + 1) * view.n_slots + b] = log_prob;
}

void keep_finished(const Search& search, const SentenceView& view, const Continuation& last, uint32_t storage) {
  const uint32_t b = last.parent;
  const size_t first = size_t{storage} * search.runtime->limits.max_target_tokens;
  if (view.kept.token_log_probs != nullptr) {
    float* log_probs = view.kept.hypothesis_log_probs + first;
    for (uint32_t t = 1; t <= search.position; ++t) {
      log_probs[t - 1] = view.kept.token_log_probs[t * view.n_slots + slot_at(search, view, b, t)];
    }
    log_probs[search.position] = last.token_log_prob;
  }
  if (view.kept.hypothesis_slots != nullptr) {
    uint8_t* slots = view.kept.hypothesis_slots + first;
    for (uint32_t t = 0; t <= search.position; ++t) slots[t] = static_cast<uint8_t>(slot_at(search, view, b, t));
  }
}

Target target_of(const Search& search, uint32_t sentence) {
  const Runtime& runtime = *search.runtime;
  const InspectionRefs& refs = search.refs.inspection;
  return {runtime.buffer<int32_t>(refs.targets) + size_t{sentence} * runtime.limits.max_target_tokens,
          runtime.buffer<uint32_t>(refs.target_lengths) + sentence};
}

}  // namespace goldcrest
