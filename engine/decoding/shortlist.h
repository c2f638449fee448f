// SPDX-License-Identifier: Apache-2.0
// The candidates of each sentence of a batch, where the file has a shortlist: which outputs its ids leave, and the
// panels of their weights, gathered once a source. A sentence with more than limits.max_candidates has the whole
// vocabulary. Builds without GOLDCREST_SHORTLIST have none of it.
#pragma once

#include "decoding/output_set.h"

namespace goldcrest {

struct Search;

// Each [batch, max_candidates padded] but the last.
struct ShortlistRefs {
  BufferRef ids;         // uint32, ascending
  BufferRef weights;     // [d_model padded] of each, in the projection's layout
  BufferRef scale;       // float; int8 files
  BufferRef bias;        // float
  BufferRef weight_sum;  // int32; int8 files
  BufferRef chosen;      // a bit for each output of the vocabulary
};

// Nothing where the limits have no candidates.
ShortlistRefs plan_shortlist(Plan& plan, const ModelView& model);

inline bool keeps_candidates(const goldcrest_limits& limits) {
  return kHasShortlist && limits.max_candidates != 0 && limits.max_candidates != GOLDCREST_NO_SHORTLIST;
}

// Chooses the candidates of a sentence and gathers their panels. Work: a memory access for each candidate's weight,
// each id of the lists and each 32 outputs of the vocabulary.
void gather_candidates(const Search& search, uint32_t sentence);

// The outputs that are computed for a sentence.
OutputSet outputs_of(const Search& search, uint32_t sentence);

}  // namespace goldcrest
