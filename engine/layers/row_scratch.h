// SPDX-License-Identifier: Apache-2.0
// The scratch that a block of rows needs on its way through a layer, encoder and decoder alike.
#pragma once

#include "layers/runtime.h"

namespace goldcrest {

struct RowScratchRefs {
  BufferRef quantized, row_scales, wide, attention_out, attention_weights, query_row;
};

// Plans the scratch for `rows` rows (a product of two factors) of a stack. `kv_width`: columns of the widest key-value
// projection that runs in it.
RowScratchRefs plan_row_scratch(Plan& plan, Phase phase, const StackView& stack, uint32_t kv_width, uint8_t rows_factor,
                                uint8_t other_rows_factor, uint8_t keys_factor);

struct RowScratch {
  int8_t* quantized;         // [rows, widest input of a linear layer]
  float* row_scales;         // [rows]
  float* wide;               // [rows, widest output of a linear layer]
  float* attention_out;      // [rows, n_heads * d_head]
  float* attention_weights;  // [longest source or target padded to 16]
  int8_t* query_row;         // [d_head]
};

RowScratch row_scratch(const Runtime& runtime, const RowScratchRefs& refs);

}  // namespace goldcrest
