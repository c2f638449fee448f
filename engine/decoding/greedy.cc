// SPDX-License-Identifier: Apache-2.0
// Greedy search: the largest logit, the lowest id among equals. No soft-max is needed unless scores are asked for.
#include "decoding/search.h"

namespace goldcrest {

namespace {

uint32_t candidates_per_row(const goldcrest_search&) { return 1; }

bool needs_sums(const goldcrest_search& options) { return (options.flags & GOLDCREST_SEARCH_SCORES) != 0; }

int32_t advance(const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(search, sentence);
  const Candidates lists = candidates(*search.runtime, search.refs.candidates, 1, 0);
  const uint32_t row = view.state->first_row;
  const int32_t end = static_cast<int32_t>(search.runtime->generation.end_id);
  const int32_t token = lists.counts[row] > 0 ? *lists.row_tokens(row) : end;  // everything is suppressed: end
  float log_prob = 0.0f;
  if (needs_sums(search.options) && lists.counts[row] > 0) {
    log_prob = *lists.row_values(row) - log_sum_exp(lists, row);
    view.scores[0] += log_prob;
  }
  if (token == end) {
    finish_hypothesis(search, view, 0, view.scores[0], {end, log_prob});
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
