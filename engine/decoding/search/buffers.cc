// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/buffers.h"
#include "decoding/search/place.h"

namespace goldcrest {
static_assert(sizeof(SentenceState) == 24 && sizeof(LiveSentence) == 24 && sizeof(Hypothesis) == 16,
    "the plan is the same on every machine");

SearchRefs plan_search(Plan& plan, const ModelView& model) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH,
                    kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  const Phase decode = Phase::kDecode;
  SearchRefs refs;
  refs.sentences =
      plan.add("search.sentences", Phase::kAlways, Region::kMain, {0, sizeof(SentenceState), {kBatch, 0, 0, 0}});
  refs.live = plan.add("search.targets", decode, Region::kMain, {0, sizeof(LiveSentence), {kBatch, 0, 0, 0}});
  refs.tokens = plan.add("search.tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.ancestor =
      plan.add("search.ancestor", decode, Region::kMain, {0, 1, {kTarget, kBeam, kBatch, GOLDCREST_FACTOR_BEAM_USED}});
  refs.scores = plan.add("search.scores", decode, Region::kMain, {0, 4, {kBeam, kBatch, 0, 0}});
  refs.hypotheses =
      plan.add("search.hypotheses", decode, Region::kMain, {0, sizeof(Hypothesis), {kBeam, kBatch, 0, 0}});
  refs.hypothesis_tokens =
      plan.add("search.hypothesis_tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.top_tokens = plan_top_tokens(plan, model);
  if constexpr (kHasShortlist) refs.shortlist = plan_shortlist(plan, model);
  if constexpr (kHasInspection) {
    refs.recording = plan_recording(plan);
    refs.targets = plan_targets(plan);
  }
  if constexpr (kHasPrompt) refs.prefixes = plan_prefixes(plan);
  if constexpr (kHasSearch) static_cast<SamplingRefs&>(refs) = plan_sampling(plan);
  if constexpr (kHasShortlist) {
    if (plan.limits().lexicon != 0)
      refs.lexicon_nodes = plan.add("lexicon.nodes", decode, Region::kMain, {0, 4, {kBeam, kBatch, 0, 0}});
  }
  return refs;
}

void place_search(const Runtime& runtime, const SearchRefs& refs, const Batch& batch, SearchBuffers* placed) {
  const goldcrest_limits& limits = runtime.limits;
  SearchBuffers& buffers = *placed;
  buffers.sources = batch.sentences;
  place(runtime, refs.sentences, &buffers.sentences);
  place(runtime, refs.live, &buffers.live);
  place(runtime, refs.tokens, &buffers.tokens);
  if (limits.beam_size > 1) place(runtime, refs.ancestor, &buffers.ancestor);
  place(runtime, refs.scores, &buffers.scores);
  place(runtime, refs.hypotheses, &buffers.hypotheses);
  place(runtime, refs.hypothesis_tokens, &buffers.hypothesis_tokens);
  place_top_tokens(runtime, refs.top_tokens, &buffers.top_tokens);
  if constexpr (kHasShortlist) {
    place_shortlist(runtime, refs.shortlist, &buffers.shortlist);
    if (limits.lexicon != 0) place(runtime, refs.lexicon_nodes, &buffers.shortlist.lexicon_nodes);
  }
  if constexpr (kHasInspection) {
    place_recording(runtime, refs.recording, &buffers.recorded);
    place_targets(runtime, refs.targets, &buffers.targets);
  }
  if constexpr (kHasPrompt) place_prefixes(runtime, refs.prefixes, &buffers.prefixes);
  if constexpr (kHasSearch) buffers.samples = place_sampling(runtime, refs, &buffers.top_tokens);
  buffers.beam_size = limits.beam_size;
  buffers.target_tokens = limits.max_target_tokens;
  buffers.n_slots = count_slots(limits);
  buffers.source_rows = batch.row_capacity;
}

SentenceView sentence_view(const SearchBuffers& buffers, uint32_t sentence) {
  const size_t first_slot = size_t{sentence} * buffers.beam_size;
  const size_t first_token = first_slot * buffers.target_tokens;
  SentenceView view;
  view.state = buffers.sentences + sentence;
  view.ancestor = buffers.ancestor != nullptr ? buffers.ancestor + first_token : nullptr;
  view.tokens = buffers.tokens + first_slot;
  view.scores = buffers.scores + first_slot;
  view.hypotheses = buffers.hypotheses + first_slot;
  view.hypothesis_tokens = buffers.hypothesis_tokens + first_token;
  view.n_source = buffers.sources[sentence].n_rows;
  view.beam_size = buffers.beam_size;
  view.target_tokens = buffers.target_tokens;
  view.n_slots = buffers.n_slots;
  if constexpr (kHasPrompt) view.prefix = buffers.prefixes.of(sentence);
  view.samples = buffers.samples != nullptr ? buffers.samples + first_slot : nullptr;
  if constexpr (kHasInspection) {
    view.recorded = recorded_path(buffers.recorded, first_slot, first_token);
    view.target = nullptr;
    view.n_target = 0;
    if (buffers.targets.ids != nullptr) {
      const Target target = buffers.targets.of(sentence);
      view.target = target.ids;
      view.n_target = *target.n;
    }
  }
  return view;
}
}  // namespace goldcrest
