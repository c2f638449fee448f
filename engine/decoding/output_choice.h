// SPDX-License-Identifier: Apache-2.0
// Which outputs a sentence has: the only place that knows all kinds of output sets.
#pragma once

#include "decoding/buffers.h"
#include "decoding/options.h"

namespace goldcrest {

// Chooses the outputs of a sentence where they depend on its source; once a source.
void choose_outputs(const Runtime& runtime, const SearchBuffers& buffers, const Batch& batch, uint32_t sentence);

// The set that is computed for each of a sentence's rows.
OutputSet outputs_of(const Runtime& runtime, const SearchOptions& options, const ShortlistBuffers& shortlist,
                     const SentenceState* sentences, uint32_t sentence);

// How many outputs the set has.
inline uint32_t count_outputs(const SearchOptions& options, const SentenceState& state) {
  return kHasShortlist && options.uses_shortlist && state.n_candidates > 0 ? state.n_candidates
                                                                           : options.model->vocab_size;
}

}  // namespace goldcrest
