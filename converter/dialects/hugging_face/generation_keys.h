// SPDX-License-Identifier: Apache-2.0
// Every setting of transformers' GenerationConfig: those that are read, those without effect here, and those that are
// not supported.
#pragma once

#include <string>
#include <vector>

#include "dialects/config.h"

namespace goldcrest::converter {

// Adds a warning for each setting that this search does not support. If `generation` is a generation_config.json, also
// warns of each unknown setting; a config.json has many others. The family reads `own_keys` itself.
void warn_of_unsupported(const Config& generation, bool is_generation_file, const std::vector<std::string>& own_keys,
                         std::vector<std::string>& warnings);

// Adds a warning for each search setting of config.json that transformers ignores because there is a
// generation_config.json.
void warn_of_ignored(const Config& generation, const Config& config, std::vector<std::string>& warnings);

}  // namespace goldcrest::converter
