// SPDX-License-Identifier: Apache-2.0
// The names of a family's tensors, if its layers are those of nn.Transformer.
#pragma once

#include <cstdint>
#include <string>

namespace goldcrest::converter {

// The defaults are nn.Transformer's own names.
struct LayerNames {
  const char *encoder_layers = "layers.", *decoder_layers = "layers.";
  const char *self_attention = "self_attn.", *cross_attention = "multihead_attn.";
  // Separate linear layers; null: in_proj_weight, or q_proj_weight, k_proj_weight and v_proj_weight.
  const char *query = nullptr, *key = nullptr, *value = nullptr;
  const char *attention_out = "out_proj";
  const char *inner = "linear1", *outer = "linear2";  // of the feed-forward block
  const char *encoder_self_norm = "norm1", *decoder_self_norm = "norm1", *cross_norm = "norm2";
  const char *encoder_last_norm = "norm2", *decoder_last_norm = "norm3";
  const char *final_norm = "norm";  // of a stack
  const char *gamma = ".weight", *beta = ".bias";
  // Norms divide by the unbiased deviation + epsilon (annotated_transformer.cc).
  bool divides_by_deviation = false;
  // Returns true for an unread tensor that changes nothing; other unread tensors are refused. Null: all give a warning.
  bool (*has_no_effect)(const std::string &name) = nullptr;

  // `stack`: "encoder" or "decoder".
  std::string layer(const std::string &stack, uint32_t i) const {
    return (stack == "decoder" ? decoder_layers : encoder_layers) + std::to_string(i) + ".";
  }
  // The matrix of a stack's first layer that tells its widths.
  std::string first(const std::string &stack) const { return layer(stack, 0) + inner + ".weight"; }
};

}  // namespace goldcrest::converter
