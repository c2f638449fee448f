// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/outputs/output_choice.h"

namespace goldcrest {
void choose_outputs(const Runtime& runtime, const SearchBuffers& buffers, const Batch& batch, uint32_t sentence) {
  const Sentence& source = batch.sentences[sentence];
  // A model that hears has no ids, and no shortlist either.
  const int32_t* const source_ids = batch.ids != nullptr ? batch.ids + source.first_row : nullptr;
  const ShortlistIds ids = {source_ids, source.n_rows, runtime.generation};
  buffers.sentences[sentence].n_candidates = choose_candidates(runtime, buffers.shortlist, sentence, ids).n;
}

OutputSet outputs_of(const Runtime& runtime, const SearchOptions& options, const ShortlistBuffers& shortlist,
    const SentenceState* sentences, uint32_t sentence) {
  const uint32_t n = count_outputs(options, sentences[sentence]);
  if (chooses_outputs(options) && n < runtime.model.vocab_size)
    return candidate_outputs(runtime, shortlist, sentence, n);
  return {tensors_of(runtime, runtime.model.projection), nullptr, runtime.model.vocab_size};
}
}  // namespace goldcrest
