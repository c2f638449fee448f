// SPDX-License-Identifier: Apache-2.0
// What makes one search differ from another: how many candidates a row keeps, and which of them go on.
#pragma once

#include <cstdint>

#include "goldcrest/goldcrest.h"

namespace goldcrest {

struct Search;

struct Strategy {
  bool one_hypothesis;  // a sentence has one hypothesis, so each token is final as soon as it is chosen
  uint32_t (*candidates_per_row)(const Search& search);
  bool (*needs_sums)(const goldcrest_search& options);  // whether log-probabilities are computed
  // One sentence's choice at the current position, from its candidates. Returns the token where there is one
  // hypothesis.
  int32_t (*advance)(const Search& search, uint32_t sentence);
};

extern const Strategy kGreedySearch, kBeamSearch;
extern const Strategy kGivenTarget;  // no search: the tokens of a target, whose candidates are they alone

inline const Strategy& strategy_for(const goldcrest_search& options) {
  return options.beam_size == 1 ? kGreedySearch : kBeamSearch;
}

}  // namespace goldcrest
