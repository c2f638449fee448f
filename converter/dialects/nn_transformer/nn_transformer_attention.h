// SPDX-License-Identifier: Apache-2.0
// The projections of an attention as nn.Transformer has them, fused or separate.
#pragma once

#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tensor_reader.h"
#include "spec/spec.h"

namespace goldcrest::converter {
struct AttentionInputs {
  uint32_t d_model, key_width;  // key_width: d_model of the input of keys and values
  bool has_bias;
};

// `prefix` belongs to the attention's tensors, for instance "encoder.layers.0.self_attn.".
bool has_attention_bias(const TensorReader& tensors, const LayerNames& names, const std::string& prefix);

// Reads the attention except its norm. The tensors determine how many rows the heads have together.
AttentionSpec read_attention(
    TensorReader& tensors, const LayerNames& names, const std::string& prefix, const AttentionInputs& inputs);

// Pads attention heads that are narrower than the engine's with rows and columns of zeros. This changes no value.

// Queries and keys have query.weight->rows / n_heads rows per head, values out.weight->columns / n_heads. Afterwards
// each has d_head.
void pad_heads(AttentionSpec& attention, uint32_t n_heads, uint32_t d_head);
}  // namespace goldcrest::converter
