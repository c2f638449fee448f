// SPDX-License-Identifier: Apache-2.0
// The encoder, over blocks of rows: the source positions of all sentences lie one after another, and a block may span
// sentences.
#pragma once

#include "layers/pass.h"

namespace goldcrest {

// A sentence of the batch: the rows of its source.
struct Sentence {
  uint32_t first_row, n_rows;
};

// The sentences that are translated together.
struct Batch {
  Sentence* sentences;  // [n_sentences], rows without gaps
  int32_t* ids;         // [n_rows], of the sources
  uint32_t n_sentences, n_rows;
  size_t row_capacity;  // rows that the caches are planned for
};

struct EncoderRefs {
  BufferRef x;       // float [row_capacity, d_model padded], the residual stream and in the end the encoder's output
  KvCacheRefs keys;  // of the current layer
  PassRefs pass;
};

EncoderRefs plan_encoder(Plan& plan, const ModelView& model);

// x <- embeddings and positions, for a block of the batch's rows.
void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, Range block);

// A layer takes two passes over all rows: first their keys and values, then the rest, block by block.
void encoder_layer_keys(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer,
                        Range block);
void encoder_layer_rest(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer,
                        Range block);

// The encoder's rows, [row_capacity, d_model padded], from row `first` on.
inline float* encoder_rows(const Runtime& runtime, const EncoderRefs& refs, uint32_t first) {
  return runtime.buffer<float>(refs.x) + size_t{first} * runtime.model.encoder.d_model_padded;
}

}  // namespace goldcrest
