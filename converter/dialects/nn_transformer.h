// SPDX-License-Identifier: Apache-2.0
// The two halves of the nn_transformer dialect: the stacks from the state dict, and texts and search from the settings.
#pragma once

#include "dialects/dialect.h"

namespace goldcrest::converter {

// "source_KEY" or "encoder_KEY" where the config has it, else "KEY".
std::string side_key(const Config& config, const std::string& side, const std::string& key);

// Tokenizers, special ids and search settings. Needs the stacks' embeddings and positions.
void read_nn_transformer_text(const Checkpoint& checkpoint, ModelSpec& spec);

}  // namespace goldcrest::converter
