// SPDX-License-Identifier: Apache-2.0
// Fills in name, licence and attribution from the checkpoint's own metadata.
#pragma once

#include "dialects/dialect.h"

namespace goldcrest::converter {

// Prefers config.json's "name", "license" and "attribution". Else uses _name_or_path, the folder of a Hugging Face
// cache or the folder's name, and the front matter of README.md.
void fill_provenance(const Checkpoint& checkpoint, ModelSpec& spec);

}  // namespace goldcrest::converter
