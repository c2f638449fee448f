// SPDX-License-Identifier: Apache-2.0
// Following a given target (goldcrest_score): its next token is the only candidate of each row, whatever its logit.
#include "decoding/search.h"

namespace goldcrest {

namespace {

uint32_t candidates_per_row(const Search&) { return 1; }

bool needs_sums(const goldcrest_search&) { return true; }

int32_t advance(const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(search, sentence);
  const Candidates lists = candidates(*search.runtime, search.refs.candidates, 1, count_outputs(search, sentence), 0);
  const uint32_t row = view.state->first_row;
  const int32_t token = *lists.row_tokens(row);
  const float log_prob = *lists.row_values(row) - log_sum_exp(lists, row);
  view.scores[0] += log_prob;
  if (search.position + 1 == *target_of(search, sentence).n) {
    finish_hypothesis(search, view, {view.scores[0], log_prob, 0, token});
    view.state->n_live = 0;
  } else {
    view.tokens[(search.position + 1) * view.n_slots] = token;
    keep_log_prob(search, view, 0, log_prob);
  }
  return token;
}

}  // namespace

const Strategy kGivenTarget = {true, candidates_per_row, needs_sums, advance};

}  // namespace goldcrest
