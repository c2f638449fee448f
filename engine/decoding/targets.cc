// SPDX-License-Identifier: Apache-2.0
#include "decoding/targets.h"

#include "decoding/place.h"

namespace goldcrest {

TargetRefs plan_targets(Plan& plan) {
  constexpr uint8_t kBatch = GOLDCREST_FACTOR_BATCH, kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  TargetRefs refs = {};
  if (!takes_targets(plan.limits())) return refs;
  // Phase kAlways, because targets are given before the source is encoded.
  refs.ids = plan.add("targets.ids", Phase::kAlways, Region::kMain, {0, 4, {kTarget, kBatch, 0, 0}});
  refs.lengths = plan.add("targets.lengths", Phase::kAlways, Region::kMain, {0, 4, {kBatch, 0, 0, 0}});
  return refs;
}

[[gnu::cold]] void place_targets(const Runtime& runtime, const TargetRefs& refs, TargetBuffers* placed) {
  if (!takes_targets(runtime.limits)) return;
  place(runtime, refs.ids, &placed->ids);
  place(runtime, refs.lengths, &placed->lengths);
  placed->capacity = runtime.limits.max_target_tokens;
}

}  // namespace goldcrest
