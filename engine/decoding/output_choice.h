// SPDX-License-Identifier: Apache-2.0
// Decides which outputs a sentence has. Only this file knows all kinds of output sets.
#pragma once

#include "decoding/buffers.h"
#include "decoding/options.h"

namespace goldcrest {

// Chooses the outputs of a sentence if they depend on its source; call it once for each source.
void choose_outputs(const Runtime& runtime, const SearchBuffers& buffers, const Batch& batch, uint32_t sentence);

// Returns the set of outputs that is computed for each row of a sentence.
OutputSet outputs_of(const Runtime& runtime, const SearchOptions& options, const ShortlistBuffers& shortlist,
                     const SentenceState* sentences, uint32_t sentence);

// Returns the number of outputs in that set.
inline uint32_t count_outputs(const SearchOptions& options, const SentenceState& state) {
  return kHasShortlist && options.uses_shortlist && state.n_candidates > 0 ? state.n_candidates
                                                                           : options.model->vocab_size;
}

// Returns the number of outputs whose sums are in the rows' lists: with a lexicon there is a single sum.
inline uint32_t count_summed(const SearchOptions& options, const SentenceState& state) {
  return has_lexicon(options) ? 1 : count_outputs(options, state);
}

}  // namespace goldcrest
