// SPDX-License-Identifier: Apache-2.0
// The encoder, over blocks of rows: all sentences' positions lie one after another, and a block may span sentences.
#pragma once

#include "layers/kv_cache.h"
#include "layers/row_scratch.h"

namespace goldcrest {

struct Source {
  uint32_t first_row;
  uint32_t length;
};

// The sources of a batch.
struct SourceBatch {
  const Source* sources;  // [n_sources], rows without gaps
  const int32_t* ids;     // [n_rows]
  uint32_t n_sources;
  uint32_t n_rows;
  size_t row_capacity;  // rows that the caches are planned for
};

struct EncoderRefs {
  BufferRef x;     // float [row_capacity, d_model padded], the residual stream and in the end the encoder's output
  KvCacheRefs kv;  // of the current layer
  RowScratchRefs rows;
};

EncoderRefs plan_encoder(Plan& plan, const ModelView& model);

// x <- embeddings and positions, for a block of the batch's rows.
void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, Range block);

// A layer takes two passes: first the keys and values of all rows, then block by block attention and feed-forward.
void encoder_layer_keys(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, uint32_t layer,
                        Range block);
void encoder_layer_rest(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, uint32_t layer,
                        Range block);

}  // namespace goldcrest
