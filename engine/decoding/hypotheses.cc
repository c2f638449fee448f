// SPDX-License-Identifier: Apache-2.0
// A sentence's hypotheses: where they lie, what they score, how they end.
#include "decoding/rules.h"
#include "kernels/reference/math.h"

namespace goldcrest {

SentenceView sentence_view(const Search& search, uint32_t sentence) {
  const Runtime& runtime = *search.runtime;
  const SearchRefs& refs = search.refs;
  const size_t beam_size = runtime.limits.beam_size, first_slot = sentence * beam_size;
  const size_t target_tokens = runtime.limits.max_target_tokens;
  SentenceView view;
  view.state = runtime.buffer<SentenceState>(refs.sentences) + sentence;
  view.ancestor = beam_size > 1 ? runtime.buffer<uint8_t>(refs.ancestor) + first_slot * target_tokens : nullptr;
  view.tokens = runtime.buffer<int32_t>(refs.tokens) + first_slot;
  view.scores = runtime.buffer<float>(refs.scores) + first_slot;
  view.hypotheses = runtime.buffer<Hypothesis>(refs.hypotheses) + first_slot;
  view.hypothesis_tokens = runtime.buffer<int32_t>(refs.hypothesis_tokens) + first_slot * target_tokens;
  if constexpr (kHasInspection) view.kept = kept_path(search, sentence);
  view.n_slots = count_slots(runtime.limits);
  return view;
}

float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens) {
  const float n = static_cast<float>(n_tokens);
  const bool is_wu = kHasRules && options.length_penalty_kind == GOLDCREST_LENGTH_WU;
  return (log_prob - options.word_penalty * n) / pow_float(is_wu ? (5.0f + n) / 6.0f : n, options.length_penalty);
}

void finish_hypothesis(const Search& search, const SentenceView& view, const Continuation& last) {
  const goldcrest_limits& limits = search.runtime->limits;
  const uint32_t n_tokens = search.position + 1;
  const float score = hypothesis_score(search.options, last.log_prob, n_tokens);
  uint32_t& n_finished = view.state->n_finished;
  uint32_t storage = n_finished;
  if (n_finished == search.options.beam_size) {
    if (!(score > view.hypotheses[n_finished - 1].score)) return;
    storage = view.hypotheses[--n_finished].storage;
  }
  uint32_t at = n_finished++;
  for (; at > 0 && view.hypotheses[at - 1].score < score; --at) view.hypotheses[at] = view.hypotheses[at - 1];
  view.hypotheses[at] = {score, last.log_prob, n_tokens, storage};

  int32_t* tokens = view.hypothesis_tokens + size_t{storage} * limits.max_target_tokens;
  for (uint32_t t = 1; t <= search.position; ++t) {
    tokens[t - 1] = view.tokens[t * view.n_slots + slot_at(search, view, last.parent, t)];
  }
  tokens[search.position] = last.token;
  if constexpr (kHasInspection) keep_finished(search, view, last, storage);
}

}  // namespace goldcrest
