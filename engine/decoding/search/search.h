// SPDX-License-Identifier: Apache-2.0
// A search over a batch of sentences, one target position after another. At each position the engine lists and embeds
// the rows, runs the layers and the output layer, and chooses the next tokens.
#pragma once

#include "decoding/limits/options.h"
#include "decoding/search/buffers.h"
#include "decoding/search/draft.h"

namespace goldcrest {
// The step of the current position.
struct SearchStep {
  uint32_t position;  // the number of tokens generated before it
  uint32_t n_rows;    // live hypotheses of all sentences
  uint32_t n_live;    // live sentences, once their rows are listed
  bool runs_layers;   // some sentence, or the recording, needs the decoder's layers
  bool runs_output;   // some sentence, or the recording, needs the output layer
  Draft draft;        // for a batch's only sentence; set before the search starts
  uint32_t n_ahead;   // rows after this position's that check the draft
};

// Gives each sentence one hypothesis, which holds the start token. *step <- the step of the first position. Forgets a
// draft that this search cannot check.
void start_search(const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step);

// Lists the live sentences and their rows at this position.
void list_rows(const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step);

// Returns the rows of this position in the form that the layers read.
TargetRows target_rows(const SearchBuffers& buffers, const SearchStep& step);

// Embeds the input token of each row: tokens [position + 1, slots].
void embed_rows(const Runtime& runtime, const DecoderRefs& decoder, const TargetRows& rows, const int32_t* tokens);

// Chooses the next tokens and moves on to the next position. With one hypothesis a sentence, returns the token of
// sentence 0.
int32_t advance_search(
    const Runtime& runtime, const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step);
}  // namespace goldcrest
