// SPDX-License-Identifier: Apache-2.0
// The rows that a layer computes: in the encoder those of a batch's sentences, in the decoder those of live hypotheses.
#pragma once

#include "layers/pass.h"

namespace goldcrest {
// The source rows of a sentence of the batch.
struct Sentence {
  uint32_t first_row, n_rows;
};

// A source of samples or feature rows, which stay in the caller's memory. The same size on every machine.
struct Clip {
  uint64_t address;      // int16 samples [n], or float feature rows [n, channels]
  uint64_t n;            // number of those that the rows need
  int64_t sum, squares;  // over the values that a norm of the whole clip reads, in units of 2^-15
  float largest;         // feature of the log-mel
  uint32_t checksum;     // over the n samples or feature rows when they were given
  uint32_t checked;      // the checksum of those that were read
  uint32_t has_features;
};

// The sentences that are translated together.
struct Batch {
  Sentence* sentences;  // [n_sentences], rows without gaps
  int32_t* ids;         // [n_rows], the ids of the sources
  Clip* clips;          // [n_sentences], of models with a frontend, which have no ids
  uint32_t n_sentences, n_rows;
  size_t row_capacity;  // rows that the caches are planned for
};

// Calls visit(i, sentence, position) for each row rows.first + i of the batch.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_position(const Batch& batch, Range rows, const Visit& visit) {
  uint32_t sentence = 0;
  for (uint32_t i = 0; i < rows.count; ++i) {
    const uint32_t row = rows.first + i;
    while (row >= batch.sentences[sentence].first_row + batch.sentences[sentence].n_rows) ++sentence;
    visit(i, sentence, row - batch.sentences[sentence].first_row);
  }
}

// A sentence with live hypotheses: these have rows [first_row, first_row + n_rows) of the activations.
struct LiveSentence {
  Sentence source;
  uint32_t first_row, n_rows;
  uint32_t first_slot;  // the slot of hypothesis 0
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
  bool checks_draft;         // the rows are one hypothesis at `position` and after it (decoding/search/draft.h)

  bool is_draft() const { return kHasDrafts && checks_draft; }
  // The position and the slot of row b of a sentence.
  uint32_t position_of(uint32_t b) const { return is_draft() ? position + b : position; }
  uint32_t slot_of(uint32_t b) const { return is_draft() ? 0 : b; }
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

// Calls store(row of the pass, row of a cache) for each hypothesis: each stores in its own slot of its position.
template <typename Store>
[[gnu::always_inline]] inline void for_each_new_row(const Pass& pass, const TargetRows& targets, const Store& store) {
  for (uint32_t i = 0; i < targets.n_sentences; ++i) {
    const LiveSentence& sentence = targets.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    for (uint32_t b = 0; b < part.rows.count; ++b) {
      const uint32_t row = part.first + b;
      store(size_t{part.rows.first + b},
          sentence.first_past + size_t{targets.position_of(row)} * targets.beam_size + targets.slot_of(row));
    }
  }
}
}  // namespace goldcrest
