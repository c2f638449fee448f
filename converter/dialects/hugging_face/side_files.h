// SPDX-License-Identifier: Apache-2.0
// Files that a Hugging Face checkpoint has besides its weights and its config.json.
#pragma once

#include "dialects/dialect.h"

namespace goldcrest::converter {

// A file next to the weights, or else next to the config.json that --config names.
std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name);

// The settings of such a file; none where it is not there.
Config side_config(const Checkpoint& checkpoint, const char* name);

}  // namespace goldcrest::converter
