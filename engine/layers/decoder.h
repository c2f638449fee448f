// SPDX-License-Identifier: Apache-2.0
// The decoder computes one target position at a time, for all live hypotheses.
#pragma once

#include "layers/alignment.h"
#include "layers/encoder.h"

namespace goldcrest {
struct DecoderRefs {
  BufferRef x;              // float [rows, d_model padded]
  KvCacheRefs past;         // layers with self-attention: [layer][head][sentence][position][hypothesis]
  KvCacheRefs source_keys;  // cross-attention: [layer][head][source row]
  PassRefs pass;
  AlignmentRefs alignment;
  BufferRef cells;  // the recurrent layers' (blocks/recurrent.h)
};

DecoderRefs plan_decoder(Plan& plan, const ModelView& model);

// Multiply-accumulates of the largest steps: one layer's keys and values of the source; one layer; all layers.
struct DecoderMacs {
  uint64_t source_keys, largest_layer, layers;
};
DecoderMacs decoder_macs(const ModelView& model, const goldcrest_limits& limits);

// A block of the encoder's output rows. decoder_layer_source_keys computes its keys and values for one decoder layer's
// cross-attention.
struct SourceRows {
  const EncoderRefs& encoder;
  const Batch& batch;
  Range block;
};
void decoder_layer_source_keys(
    const Runtime& runtime, const DecoderRefs& refs, const SourceRows& source, uint32_t layer);

// x[row] <- embedding of `token` at the current position.
void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, uint32_t position, uint32_t row, uint32_t token);

// Computes one layer for all rows. The last layer ends with the final norm, if the model has a final norm.
void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& targets, uint32_t layer);

// Returns the decoder's rows, [rows, d_model padded], from row `first` on.
inline float* decoder_rows(const Runtime& runtime, const DecoderRefs& refs, uint32_t first) {
  return runtime.buffer<float>(refs.x) + size_t{first} * runtime.model.decoder.d_model_padded;
}
}  // namespace goldcrest
