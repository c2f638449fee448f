// SPDX-License-Identifier: Apache-2.0
// A shortlist restricts the outputs of a sentence to its candidates, which the ids of its source choose. Their panels
// of weights are copied once for each source; those of a lexicon at each position. Builds without GOLDCREST_SHORTLIST
// have no shortlists.
#pragma once

#include "decoding/outputs/output_set.h"

namespace goldcrest {
// Shapes: [batch, max_candidates padded], except `chosen`.
struct ShortlistRefs {
  BufferRef ids;         // uint32, ascending
  BufferRef weights;     // [d_model padded] of each, in the projection's layout; of a second matrix after them
  BufferRef scale;       // float; int8 files
  BufferRef bias;        // float
  BufferRef weight_sum;  // int32; int8 files
  BufferRef chosen;      // a bit for each output of the vocabulary
};

// The candidates of one sentence, and copies of their rows of the projection. Weights, scales and sums of a second
// matrix follow those of `capacity` candidates of the first.
struct SentencePanels {
  uint32_t* ids;
  uint8_t* weights;
  float* scale;  // null for float32 files
  float* bias;
  int32_t* weight_sum;  // null for float32 files
};

struct ShortlistBuffers {
  SentencePanels panels;  // the first sentence's
  uint32_t* chosen;
  size_t capacity;          // candidates of a sentence, padded
  size_t panel_bytes;       // bytes of one candidate's weights in one matrix
  uint32_t* lexicon_nodes;  // [slots], of each live hypothesis; null if no memory is planned for a lexicon

  // n_matrices: of the projection, 1 or 2
  SentencePanels of(uint32_t sentence, uint32_t n_matrices) const;
};

// Both functions do nothing if the limits have no candidates.
ShortlistRefs plan_shortlist(Plan& plan, const ModelView& model);
void place_shortlist(const Runtime& runtime, const ShortlistRefs& refs, ShortlistBuffers* placed);

inline bool plans_shortlist(const goldcrest_limits& limits) {
  return kHasShortlist && limits.max_candidates != 0 && limits.max_candidates != GOLDCREST_NO_SHORTLIST;
}

// The ids that choose candidates: those of a source, and those that end a text.
struct ShortlistIds {
  const int32_t* source;  // [n]
  uint32_t n;
  const GenerationView& generation;
};

// Chooses the candidates of a sentence and copies their panels. Returns a set of 0 outputs if there are more than
// limits.max_candidates. Work: one memory access for each weight of a candidate, for each id of the lists and for each
// 32 outputs of the vocabulary.
OutputSet choose_candidates(
    const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence, const ShortlistIds& ids);

// The same with any candidates: clear_candidates, then choose_candidate for each id, then gather_chosen, which returns
// their number, or 0 if there are more than limits.max_candidates.
void clear_candidates(const Runtime& runtime, const ShortlistBuffers& buffers);
inline void choose_candidate(uint32_t* chosen, uint32_t id) { chosen[id / 32] |= 1u << id % 32; }
uint32_t gather_chosen(const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence);

// Returns the set that was chosen for a sentence, of n > 0 outputs.
OutputSet candidate_outputs(const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence, uint32_t n);
}  // namespace goldcrest
