// SPDX-License-Identifier: Apache-2.0
// The encoder computes blocks of rows. The source positions of all sentences follow one another, and a block may span
// sentences.
#pragma once

#include "layers/rows.h"

namespace goldcrest {
struct EncoderRefs {
  BufferRef x;       // float [row_capacity, d_model padded]: the residual stream, finally the encoder's output
  KvCacheRefs keys;  // the current layer's
  PassRefs pass;
  BufferRef frontend;  // scratch of a task (layers/inputs/frontend.h); unplanned in models without one
};

EncoderRefs plan_encoder(Plan& plan, const ModelView& model);

// Returns the multiply-accumulates of the largest of the steps below; a frontend's are apart
// (layers/inputs/frontend.h).
uint64_t largest_encoder_step_macs(const ModelView& model, const goldcrest_limits& limits);

// x <- embeddings and positions, for a block of the batch's rows.
void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, Range block);

// A layer takes two passes over all rows, block by block: first their keys and values, then the rest of the layer.
void encoder_layer_keys(
    const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer, Range block);
void encoder_layer_rest(
    const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer, Range block);

// Returns the encoder's rows, [row_capacity, d_model padded], from row `first` on.
inline float* encoder_rows(const Runtime& runtime, const EncoderRefs& refs, uint32_t first) {
  return runtime.buffer<float>(refs.x) + size_t{first} * runtime.model.encoder.d_model_padded;
}
}  // namespace goldcrest
