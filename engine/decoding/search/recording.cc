// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/recording.h"
#include "decoding/search/place.h"

namespace goldcrest {
RecordingRefs plan_recording(Plan& plan) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH,
                    kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  const goldcrest_limits& limits = plan.limits();
  const BufferSize of_tokens = {0, sizeof(float), {kTarget, kBeam, kBatch, 0}};
  RecordingRefs refs = {};
  if (records_token_scores(limits)) {
    refs.token_log_probs = plan.add("search.token_log_probs", Phase::kDecode, Region::kMain, of_tokens);
    refs.hypothesis_log_probs = plan.add("search.hypothesis_log_probs", Phase::kDecode, Region::kMain, of_tokens);
  }
  if (records_alignments(limits)) {
    refs.hypothesis_slots =
        plan.add("search.hypothesis_slots", Phase::kDecode, Region::kMain, {0, 1, {kTarget, kBeam, kBatch, 0}});
  }
  return refs;
}

void place_recording(const Runtime& runtime, const RecordingRefs& refs, RecordedPath* recording) {
  if (records_token_scores(runtime.limits)) {
    place(runtime, refs.token_log_probs, &recording->token_log_probs);
    place(runtime, refs.hypothesis_log_probs, &recording->hypothesis_log_probs);
  }
  if (records_alignments(runtime.limits)) place(runtime, refs.hypothesis_slots, &recording->hypothesis_slots);
}

RecordedPath recorded_path(const RecordedPath& recording, size_t first_slot, size_t first_token) {
  RecordedPath path = recording;
  if (path.token_log_probs != nullptr) {
    path.token_log_probs += first_slot;
    path.hypothesis_log_probs += first_token;
  }
  if (path.hypothesis_slots != nullptr) path.hypothesis_slots += first_token;
  return path;
}

void record_finished(const RecordedPath& path, const Past& past, float last_log_prob, size_t first_token) {
  if (path.token_log_probs != nullptr) {
    float* const log_probs = path.hypothesis_log_probs + first_token;
    for (uint32_t t = 1; t <= past.position; ++t)
      log_probs[t - 1] = path.token_log_probs[t * past.n_slots + past.slot_at(t)];
    log_probs[past.position] = last_log_prob;
  }
  if (path.hypothesis_slots != nullptr) {
    uint8_t* const slots = path.hypothesis_slots + first_token;
    for (uint32_t t = 0; t <= past.position; ++t) slots[t] = static_cast<uint8_t>(past.slot_at(t));
  }
}

TargetRefs plan_targets(Plan& plan) {
  constexpr uint8_t kBatch = GOLDCREST_FACTOR_BATCH, kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  TargetRefs refs = {};
  if (!takes_targets(plan.limits())) return refs;
  // Phase kAlways, because targets are given before the source is encoded.
  refs.ids = plan.add("targets.ids", Phase::kAlways, Region::kMain, {0, 4, {kTarget, kBatch, 0, 0}});
  refs.lengths = plan.add("targets.lengths", Phase::kAlways, Region::kMain, {0, 4, {kBatch, 0, 0, 0}});
  return refs;
}

void place_targets(const Runtime& runtime, const TargetRefs& refs, TargetBuffers* placed) {
  if (!takes_targets(runtime.limits)) return;
  place(runtime, refs.ids, &placed->ids);
  place(runtime, refs.lengths, &placed->lengths);
  placed->capacity = runtime.limits.max_target_tokens;
}
}  // namespace goldcrest
