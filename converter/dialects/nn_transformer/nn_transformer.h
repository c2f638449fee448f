// SPDX-License-Identifier: Apache-2.0
// The parts of the nn_transformer dialect: required settings, the stacks from the state dict, and texts and search from
// the settings.
#pragma once

#include <cstdint>
#include <string>
#include "dialects/config.h"
#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
// The names of a family's tensors, if its layers are those of nn.Transformer.

// The defaults are nn.Transformer's own names.
struct LayerNames {
  const char *encoder_layers = "layers.", *decoder_layers = "layers.";
  const char *self_attention = "self_attn.", *cross_attention = "multihead_attn.";
  // Separate linear layers; null: in_proj_weight, or q_proj_weight, k_proj_weight and v_proj_weight.
  const char *query = nullptr, *key = nullptr, *value = nullptr;
  const char* attention_out = "out_proj";
  const char *inner = "linear1", *outer = "linear2";  // the feed-forward block's
  const char *encoder_self_norm = "norm1", *decoder_self_norm = "norm1", *cross_norm = "norm2";
  const char *encoder_last_norm = "norm2", *decoder_last_norm = "norm3";
  const char* final_norm = "norm";  // a stack's
  const char *gamma = ".weight", *beta = ".bias";
  // Norms divide by the unbiased deviation + epsilon (tutorials/tutorial.cc).
  bool divides_by_deviation = false;
  // Returns true for an unread tensor that changes nothing; other unread tensors are refused. Null: all give a warning.
  bool (*has_no_effect)(const std::string& name) = nullptr;

  // `stack`: "encoder" or "decoder".
  std::string layer(const std::string& stack, uint32_t i) const {
    return (stack == "decoder" ? decoder_layers : encoder_layers) + std::to_string(i) + ".";
  }
  // The matrix of a stack's first layer that tells its widths.
  std::string first(const std::string& stack) const { return layer(stack, 0) + inner + ".weight"; }
};

// Returns the prefix of a module's tensors, which tensors.ROLE names with or without its dot: "transformer.".
std::string module_prefix(const Config& names, const std::string& role);

// Returns "source_KEY" or "encoder_KEY" if the config has that setting, else "KEY".
std::string side_key(const Config& config, const std::string& side, const std::string& key);

// The known settings; the second function lists those of "tensors".
const std::vector<std::string>& nn_transformer_settings();
const std::vector<std::string>& nn_transformer_tensor_settings();
// Notes the missing settings that no tensor determines.
void require_nn_transformer_settings(const Config& config, RequiredSettings& required);
// Throws one Error that names every missing setting. `names` is the object "tensors".
void check_nn_transformer_settings(const Config& config, const Config& names, const TensorReader& tensors);

extern const ConfigFamily kNnTransformerFamily;

// Lists the tensors except biases, which the file always has.
std::vector<ShapedTensor> nn_transformer_tensors(const Config& config);

void name_nn_transformer_tensors(Value& config);

// Loads a family's model whose layers' tensors have these names.
ModelSpec load_named(const Checkpoint& checkpoint, const LayerNames& names);

// Reads tokenizers, special ids and search settings. Needs the stacks' embeddings and positions.
void read_nn_transformer_text(const Checkpoint& checkpoint, ModelSpec& spec);
}  // namespace goldcrest::converter
