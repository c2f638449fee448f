// SPDX-License-Identifier: Apache-2.0
// What the two halves of the Marian dialect share: weights and settings (marian.cc), tokenizers (marian_text.cc).
#pragma once

#include "dialects/config_family.h"

namespace goldcrest::converter {

extern const ConfigFamily kMarianFamily;

std::vector<ShapedTensor> marian_tensors(const Config& config);

// A file that lies beside the weights, or else beside the config.json that --config names.
std::filesystem::path marian_side_file(const Checkpoint& checkpoint, const char* name);

// The settings of such a file; none where it is not there.
Config optional_marian_config(const Checkpoint& checkpoint, const char* name);

// Throws one Error that names every setting that is missing. `generation`: generation_config.json, which may have the
// ids in its place.
void check_marian_settings(const Config& config, const Config& generation);

// Tokenizers, languages and the ids around a source. The sizes are the embeddings' rows.
void read_marian_text(const Checkpoint& checkpoint, uint32_t source_vocab_size, uint32_t target_vocab_size,
                      ModelSpec& spec);

}  // namespace goldcrest::converter
