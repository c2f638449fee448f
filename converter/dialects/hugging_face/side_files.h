// SPDX-License-Identifier: Apache-2.0
// Files of a Hugging Face checkpoint other than its weights and its config.json.
#pragma once

#include "dialects/dialect.h"

namespace goldcrest::converter {

// Returns a file next to the weights, or else next to the config.json that --config names.
std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name);

// Returns the settings of such a file; empty if there is no file.
Config side_config(const Checkpoint& checkpoint, const char* name);

}  // namespace goldcrest::converter
