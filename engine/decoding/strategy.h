// SPDX-License-Identifier: Apache-2.0
// A strategy decides how many tokens the list of a row keeps, and which of them continue a sentence's hypotheses.
#pragma once

#include <cstdint>

#include "goldcrest/goldcrest.h"

namespace goldcrest {

struct SearchOptions;
struct SentenceView;
struct TopTokens;

struct Strategy {
  bool one_hypothesis;  // a sentence has one hypothesis, so each token is final as soon as it is chosen
  // Tokens in the list of each row's best, where n_ends ids end a text.
  uint32_t (*list_size)(const goldcrest_search& options, uint32_t n_ends);
  bool (*needs_sums)(const goldcrest_search& options);  // whether log-probabilities are computed
  // Continues one sentence with the token of `position`, from its rows' lists. Returns the token where there is one
  // hypothesis.
  int32_t (*choose)(const SearchOptions& options, uint32_t position, const SentenceView& sentence,
                    const TopTokens& lists);
};

extern const Strategy kGreedySearch, kBeamSearch;

// The strategy of a search by these options.
inline const Strategy& strategy_for(const goldcrest_search& options) {
  return options.beam_size == 1 ? kGreedySearch : kBeamSearch;
}

}  // namespace goldcrest
