// SPDX-License-Identifier: Apache-2.0
// The parts of the nn_transformer dialect: required settings, the stacks from the state dict, and texts and search from
// the settings.
#pragma once

#include "dialects/config_family.h"
#include "dialects/nn_transformer/nn_transformer_names.h"
#include "dialects/required_settings.h"
#include "dialects/tensor_reader.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

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
