// SPDX-License-Identifier: Apache-2.0
#include "decoding/sampling.h"

namespace goldcrest {

[[gnu::cold]] void plan_sampling(Plan& plan, SamplingRefs* refs) {
  if (plan.limits().max_sampled == 0) return;
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH;
  // Phase kAlways, because streams are given before the source is encoded.
  refs->slots =
      plan.add("sampling.slots", Phase::kAlways, Region::kMain, {0, sizeof(SampleSlot), {kBeam, kBatch, 0, 0}});
  refs->lists = plan.add("sampling.lists", Phase::kDecode, Region::kScratch,
                         {0, 8, {GOLDCREST_FACTOR_SAMPLED, kBeam, kBatch, GOLDCREST_FACTOR_THREADS}});
}

[[gnu::cold]] void place_sampling(const Runtime& runtime, const SamplingRefs& refs, const TopTokenBuffers& lists,
                                  SamplingBuffers* placed) {
  const goldcrest_limits& limits = runtime.limits;
  if (limits.max_sampled == 0) return;
  placed->values = lists.values;
  placed->tokens = lists.tokens;
  place(runtime, refs.slots, &placed->slots);
  place(runtime, refs.lists, &placed->sampled_values);
  place(runtime, refs.lists, &placed->sampled_tokens);
  placed->sampled_tokens.first += size_t{limits.max_sampled} * limits.batch * limits.beam_size;
}

[[gnu::cold]] void choose_lists(const SamplingBuffers& buffers, bool draws, TopTokenBuffers* lists) {
  if (buffers.slots == nullptr) return;
  lists->values = draws ? buffers.sampled_values : buffers.values;
  lists->tokens = draws ? buffers.sampled_tokens : buffers.tokens;
}

}  // namespace goldcrest
