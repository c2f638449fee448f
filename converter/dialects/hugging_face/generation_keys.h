// SPDX-License-Identifier: Apache-2.0
// Every setting of transformers' GenerationConfig: which are read, which change nothing here, which are not supported.
#pragma once

#include <string>
#include <vector>

#include "dialects/config.h"

namespace goldcrest::converter {

// Adds a warning for each setting that asks for what the search here does not do, and, where `generation` is a
// generation_config.json (else it is config.json, which has much else), for each that is not known.
void warn_of_unsupported(const Config& generation, bool is_generation_file, std::vector<std::string>& warnings);

// Adds a warning for what config.json asks for and transformers ignores, since there is a generation_config.json.
void warn_of_ignored(const Config& generation, const Config& config, std::vector<std::string>& warnings);

}  // namespace goldcrest::converter
