// SPDX-License-Identifier: Apache-2.0
// A strategy decides how many tokens the list of a row holds and which of them continue the sentence's hypotheses.
#pragma once

#include <stdint.h>
#include "goldcrest/goldcrest.h"

namespace goldcrest {
struct SearchOptions;
struct SentenceView;
struct TopTokens;

struct Strategy {
  bool one_hypothesis;  // only one for each sentence, so each token is final as soon as it is chosen
  bool by_log_prob;     // hypotheses compete by their log-probabilities
  // Returns the number of tokens in each row's list; n_ends ids end a text.
  uint32_t (*list_size)(const goldcrest_search& options, uint32_t n_ends);
  bool (*needs_sums)(const goldcrest_search& options);  // whether log-probabilities are computed
  // Continues one sentence with a token at `position` from the lists of its rows. With one hypothesis, returns the
  // token.
  int32_t (*choose)(
      const SearchOptions& options, uint32_t position, const SentenceView& sentence, const TopTokens& lists);
};

extern const Strategy kGreedySearch, kBeamSearch, kSampling, kSeveralSamples;

// Greedy search and sampling compute log-probabilities only if scores are asked for.
bool needs_sums_for_scores(const goldcrest_search& options);

// Returns the strategy that these options ask for.
inline const Strategy& strategy_for(const goldcrest_search& options) {
  return options.beam_size == 1 ? kGreedySearch : kBeamSearch;
}
}  // namespace goldcrest
