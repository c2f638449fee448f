// SPDX-License-Identifier: Apache-2.0
// Greedy search: the largest logit, the lowest id among equals. No soft-max is needed unless scores are asked for.
#include "decoding/search.h"

namespace goldcrest {

int32_t greedy_advance(const Runtime& runtime, const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(runtime, search, sentence);
  const Candidates lists = candidates(runtime, search.refs.candidates, 1, 0);
  const uint32_t row = view.state->first_row;
  const int32_t end = static_cast<int32_t>(view_generation(runtime.file).end_id);
  const int32_t token = lists.counts[row] > 0 ? *lists.row_tokens(row) : end;  // everything is suppressed: end
  if ((search.options.flags & GOLDCREST_SEARCH_SCORES) != 0 && lists.counts[row] > 0) {
    view.scores[0] += *lists.row_values(row) - log_sum_exp(lists, row);
  }
  if (token == end) {
    finish_hypothesis(runtime, search, sentence, 0, end, view.scores[0]);
    view.state->n_live = 0;
  } else {
    view.tokens[(search.position + 1) * view.n_slots] = token;
  }
  return token;
}

}  // namespace goldcrest
