// SPDX-License-Identifier: Apache-2.0
// Greedy search: the largest logit, the lowest id among equals. No soft-max is needed unless scores are asked for.
#include "decoding/rules.h"

namespace goldcrest {

namespace {

uint32_t candidates_per_row(const Search&) { return 1; }

bool needs_sums(const goldcrest_search& options) { return (options.flags & GOLDCREST_SEARCH_SCORES) != 0; }

int32_t advance(const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(search, sentence);
  const Candidates lists = candidates(*search.runtime, search.refs.candidates, 1, count_outputs(search, sentence), 0);
  const uint32_t row = view.state->first_row;
  const GenerationView& generation = search.runtime->generation;
  const bool is_empty = lists.counts[row] == 0;  // everything is suppressed: end
  const int32_t token = is_empty ? static_cast<int32_t>(generation.end_id) : *lists.row_tokens(row);
  float log_prob = 0.0f;
  if (needs_sums(search.options) && !is_empty) {
    log_prob = *lists.row_values(row) - log_sum_exp(lists, row);
    view.scores[0] += log_prob;
  }
  if (ends_text(search, sentence, token)) {
    finish_hypothesis(search, view, {view.scores[0], log_prob, 0, token});
    view.state->n_live = 0;
  } else {
    view.tokens[(search.position + 1) * view.n_slots] = token;
    if constexpr (kHasInspection) keep_log_prob(search, view, 0, log_prob);
  }
  return token;
}

}  // namespace

const Strategy kGreedySearch = {true, candidates_per_row, needs_sums, advance};

}  // namespace goldcrest
