// SPDX-License-Identifier: Apache-2.0
// Decides which outputs a sentence has. Only this file knows all kinds of output sets.
#pragma once

#include "decoding/outputs/stages.h"

namespace goldcrest {
// Chooses the outputs of a sentence if they depend on its source; call it once for each source.
void choose_outputs(const Runtime& runtime, const SearchBuffers& buffers, const Batch& batch, uint32_t sentence);

// Returns the set of outputs that is computed for each row of a sentence.
OutputSet outputs_of(const Runtime& runtime, const SearchOptions& options, const ShortlistBuffers& shortlist,
    const SentenceState* sentences, uint32_t sentence);

// Returns the number of outputs in that set.
inline uint32_t count_outputs(const SearchOptions& options, const SentenceState& state) {
  return chooses_outputs(options) && state.n_candidates > 0 ? state.n_candidates : options.model->vocab_size;
}

// Returns the number of outputs whose sums are in the rows' lists: with a lexicon there is a single sum, with
// timestamps one more than there are blocks.
inline uint32_t count_summed(const SearchOptions& options, const SentenceState& state) {
  return has_lexicon(options) ? 1 : count_outputs(options, state) + (finds_timestamps(options) ? kOutputBlock : 0);
}

// A lexicon restricts the texts of a search (goldcrest_set_lexicon). Each live hypothesis has a node of its tree.
// Builds without GOLDCREST_SHORTLIST have no lexicons.

// Moves the node of every live hypothesis on to the current position. Chooses the outputs of each sentence: the allowed
// ones of all its hypotheses if they fit the limits, else all.
void follow_lexicon(const OutputStep& step);

// Removes the tokens that the lexicon does not allow from a block and sums the others up, one after another: the sum
// must not depend on which outputs are computed. Call it for a row's blocks in ascending order.
void keep_allowed(const OutputStep& step, const LogitBlock& block);
}  // namespace goldcrest
