// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/hypotheses.h"
#include "kernels/reference/math.h"

namespace goldcrest {
float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens) {
  const float n = static_cast<float>(n_tokens);
  const bool is_wu = kHasSearch && options.length_penalty_kind == GOLDCREST_LENGTH_WU;
  return (log_prob - options.word_penalty * n) / power(is_wu ? (5.0f + n) / 6.0f : n, options.length_penalty);
}

namespace {
// Returns the first free token's log-probability, plus the score of the tokens after it.
float alternative_score(
    const SearchOptions& options, const SentenceView& sentence, const Continuation& last, uint32_t n_tokens) {
  const float first = bits_float(sentence.samples[last.parent].stream);
  const uint32_t n_rest = n_tokens - first_free_position(options, sentence) - 1;
  return n_rest == 0 ? first : first + hypothesis_score(options, last.log_prob - first, n_rest);
}
}  // namespace

void finish_hypothesis(
    const SearchOptions& options, const SentenceView& sentence, uint32_t position, const Continuation& last) {
  const uint32_t n_tokens = position + 1;
  float score = hypothesis_score(options, last.log_prob, counted_tokens(options, sentence, n_tokens));
  if (expands_alternatives(options)) score = alternative_score(options, sentence, last, n_tokens);
  uint8_t& n_finished = sentence.state->n_finished;
  Hypothesis* const hypotheses = sentence.hypotheses;
  uint32_t storage = n_finished;
  uint32_t at = n_finished;
  if (draws_several(options)) {
    storage = at = sentence.samples[last.parent].sample;
    ++n_finished;
  } else {
    if (n_finished == options.beam_size) {
      if (!(score > hypotheses[n_finished - 1].score)) return;
      storage = hypotheses[--n_finished].storage;
    }
    at = n_finished++;
    for (; at > 0 && hypotheses[at - 1].score < score; --at) hypotheses[at] = hypotheses[at - 1];
  }
  hypotheses[at] = {score, last.log_prob, n_tokens, storage};

  const Past past = sentence.past_of(last.parent, position);
  const size_t first_token = size_t{storage} * sentence.target_tokens;
  int32_t* const tokens = sentence.hypothesis_tokens + first_token;
  for (uint32_t t = 1; t <= position; ++t) tokens[t - 1] = past.token_at(t);
  tokens[position] = last.token;
  if constexpr (kHasInspection) record_finished(sentence.recorded, past, last.token_log_prob, first_token);
}
}  // namespace goldcrest
