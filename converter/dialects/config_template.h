// SPDX-License-Identifier: Apache-2.0
// The config.json of an nn.Transformer, as far as its tensors tell.
#pragma once

#include <filesystem>

#include "sources/values/value.h"

namespace goldcrest::converter {

// What shapes cannot tell is null, with its choices under KEY + "?"; the nn_transformer dialect refuses it until it is
// set. `path`: a weight file or its folder, with or without a config.json. Throws Error where there is no
// nn.Transformer in it.
Value config_template(const std::filesystem::path& path);

}  // namespace goldcrest::converter
