// SPDX-License-Identifier: Apache-2.0
// The projections of one attention of nn.Transformer's kind, fused or not.
#pragma once

#include "dialects/nn_transformer/nn_transformer_names.h"
#include "dialects/tensor_reader.h"

namespace goldcrest::converter {

struct AttentionInputs {
  uint32_t d_model, key_width;  // key_width: d_model of what keys and values are made from
  bool has_bias;
};

// `prefix`: of the attention's tensors, "encoder.layers.0.self_attn.".
bool has_attention_bias(const TensorReader& tensors, const LayerNames& names, const std::string& prefix);

// All but its norm. How many rows the heads have together, the tensors tell.
AttentionSpec read_attention(TensorReader& tensors, const LayerNames& names, const std::string& prefix,
                             const AttentionInputs& inputs);

}  // namespace goldcrest::converter
