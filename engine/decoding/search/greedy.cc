// SPDX-License-Identifier: Apache-2.0
// Greedy search takes the largest logit, and among equal ones the lowest id. It computes a soft-max only if scores are
// asked for.
#include "base/exact_floats.h"
#include "decoding/search/hypotheses.h"

namespace goldcrest {
namespace {
uint32_t list_size(const goldcrest_search&, uint32_t) { return 1; }

int32_t choose(const SearchOptions& options, uint32_t position, const SentenceView& sentence, const TopTokens& lists) {
  const uint32_t row = sentence.state->first_row;
  const bool is_empty = lists.counts[row] == 0;  // every token is suppressed: end
  const int32_t token = is_empty ? static_cast<int32_t>(options.generation->end_id) : *lists.row_tokens(row);
  float log_prob = 0.0f;
  if (options.needs_sums && !is_empty) {
    log_prob = *lists.row_values(row) - log_sum_exp(lists, row);
    sentence.scores[0] += log_prob;
  }
  if (ends_text(options, sentence, position, token)) {
    finish_hypothesis(options, sentence, position, {sentence.scores[0], log_prob, 0, token});
    sentence.state->n_live = 0;
  } else {
    feed_token(sentence, position, 0, token, log_prob);
  }
  return token;
}
}  // namespace

bool needs_sums_for_scores(const goldcrest_search& options) { return (options.flags & GOLDCREST_SEARCH_SCORES) != 0; }

const Strategy kGreedySearch = {true, false, list_size, needs_sums_for_scores, choose};
}  // namespace goldcrest
