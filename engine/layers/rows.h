// SPDX-License-Identifier: Apache-2.0
// The rows that a layer computes: in the encoder those of a batch's sentences, in the decoder those of live hypotheses.
#pragma once

#include "layers/pass.h"

namespace goldcrest {

// The source rows of a sentence of the batch.
struct Sentence {
  uint32_t first_row, n_rows;
};

// The sentences that are translated together.
struct Batch {
  Sentence* sentences;  // [n_sentences], rows without gaps
  int32_t* ids;         // [n_rows], the ids of the sources
  uint32_t n_sentences, n_rows;
  size_t row_capacity;  // rows that the caches are planned for
};

// A sentence with live hypotheses: these have rows [first_row, first_row + n_rows) of the activations.
struct LiveSentence {
  Sentence source;
  uint32_t first_row, n_rows;
  uint32_t first_slot;  // of hypothesis 0
  uint32_t first_past;  // start of its [position, beam_size] in the self-attention cache and in the ancestor table
};

// The rows of one decoding step.
struct TargetRows {
  const LiveSentence* sentences;  // [n_sentences]
  const uint8_t* ancestor;        // per sentence [position + 1, beam_size]; null when beam_size is 1
  uint32_t n_sentences, n_rows;
  uint32_t position;
  uint32_t beam_size;
  size_t n_slots;            // hypotheses that the self-attention cache is planned for
  size_t position_capacity;  // target positions that it is planned for
  size_t source_capacity;    // source rows that the cross-attention cache is planned for
};

// The part of a pass that belongs to one sentence: hypotheses [first, first + rows.count) in `rows` of the pass.
struct SentencePart {
  uint32_t first;
  Range rows;
};

inline SentencePart part_of_sentence(const Pass& pass, const LiveSentence& sentence) {
  const Range rows = common({sentence.first_row, sentence.n_rows}, pass.rows);
  return {rows.first - sentence.first_row, {rows.first - pass.rows.first, rows.count}};
}

// Calls store(row of the pass, row of a cache) for each hypothesis: each stores in its own slot of the current
// position.
template <typename Store>
[[gnu::always_inline]] inline void for_each_new_row(const Pass& pass, const TargetRows& targets, const Store& store) {
  for (uint32_t i = 0; i < targets.n_sentences; ++i) {
    const LiveSentence& sentence = targets.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    for (uint32_t b = 0; b < part.rows.count; ++b) {
      const size_t hypothesis = part.first + b;
      store(size_t{part.rows.first + b},
            sentence.first_past + size_t{targets.position} * targets.beam_size + hypothesis);
    }
  }
}

}  // namespace goldcrest
