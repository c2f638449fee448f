// SPDX-License-Identifier: Apache-2.0
// The reference kernels, for tables whose slots are not worth writing, and for tails.
#pragma once

#include "kernels/kernels.h"

namespace goldcrest {

void reference_quantize_rows(const QuantizeRowsArgs& args);
void reference_linear(const LinearArgs& args);
void reference_embed(const EmbedArgs& args);
void reference_layer_norm(const LayerNormArgs& args);
void reference_attention(const AttentionArgs& args);
void reference_output_block(const OutputBlockArgs& args);
uint32_t reference_next_above(const float* x, uint32_t begin, uint32_t end, float threshold);
float reference_activate(Activation activation, float x);
bool reference_weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);

extern const Kernels kernels_reference;

}  // namespace goldcrest
