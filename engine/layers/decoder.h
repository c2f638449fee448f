// SPDX-License-Identifier: Apache-2.0
// The decoder, one target position at a time for all live hypotheses.
#pragma once

#include "layers/encoder.h"

namespace goldcrest {

// One sentence's live hypotheses at the current position: rows [first_row, first_row + n_rows) of the activations.
struct TargetSentence {
  Source source;
  uint32_t first_row, n_rows;
  uint32_t first_slot;      // hypothesis b writes slot first_slot + b of the self-attention cache
  uint32_t first_ancestor;  // where the sentence's part of the ancestor table begins
};

// The rows of one decoding step.
struct TargetRows {
  const TargetSentence* sentences;  // [n_sentences], live ones only
  const uint8_t* ancestor;          // per sentence [position + 1, beam_size]; null when beam_size is 1
  uint32_t n_sentences, n_rows;
  uint32_t position;
  uint32_t beam_size;
  size_t n_slots;            // slots of the self-attention cache at each position
  size_t position_capacity;  // target positions that it is planned for
  size_t source_capacity;    // source rows that the cross-attention cache is planned for
};

struct DecoderRefs {
  BufferRef x;           // float [rows, d_model padded]
  KvCacheRefs self_kv;   // [layer][head][position][slot]
  KvCacheRefs cross_kv;  // [layer][head][source row]
  RowScratchRefs rows;
};

DecoderRefs plan_decoder(Plan& plan, const ModelView& model);

// The cross-attention keys and values of one decoder layer, for a block of the encoder's output rows.
void decoder_layer_memory(const Runtime& runtime, const EncoderRefs& encoder, const DecoderRefs& refs,
                          const SourceBatch& batch, uint32_t layer, Range block);

// x[row] <- embedding of `token` at the current position.
void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& rows, uint32_t row,
                   uint32_t token);

// One layer for all rows; the last layer ends with the final norm, if any.
void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& all, uint32_t layer);

// Quantizes some of the decoder's output rows for output_block.
void output_begin(const Runtime& runtime, const DecoderRefs& refs, Range rows);

// Logits of the outputs [256 * block, ...) for some rows into `logits` [rows.count, 256]. block_max, block_sum: see
// OutputBlockArgs<int8_t>; `stride` elements from row to row. Returns the number of outputs in the block.
uint32_t output_block(const Runtime& runtime, const DecoderRefs& refs, Range rows, uint32_t block, float* logits,
                      float* block_max, float* block_sum, size_t stride);

}  // namespace goldcrest
