// SPDX-License-Identifier: Apache-2.0
// Drafts the config.json of an nn.Transformer from its tensors.
#pragma once

#include <filesystem>

#include "sources/values/value.h"

namespace goldcrest::converter {

// A setting that shapes cannot determine is null, with its choices under KEY + "?". The nn_transformer dialect refuses
// it until it is set. `path` is a weight file or its folder, with or without a config.json. Throws Error if there is no
// nn.Transformer.
Value config_template(const std::filesystem::path& path);

}  // namespace goldcrest::converter
