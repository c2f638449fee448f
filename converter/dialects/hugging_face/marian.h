// SPDX-License-Identifier: Apache-2.0
// The interface between the two halves of the Marian dialect: weights and settings (marian.cc), tokenizers
// (marian_text.cc).
#pragma once

#include "dialects/config_family.h"
#include "dialects/hugging_face/tables.h"

namespace goldcrest::converter {

extern const ConfigFamily kMarianFamily;

inline constexpr TableTensors kMarianTables = {"model.shared.weight", "model.encoder.embed_tokens.weight",
                                               "model.decoder.embed_tokens.weight", "lm_head.weight",
                                               "final_logits_bias"};

std::vector<ShapedTensor> marian_tensors(const Config& config);

// Throws one Error that names every missing setting. `generation` is generation_config.json, which may hold the ids
// instead.
void check_marian_settings(const Config& config, const Config& generation);

// Reads tokenizers, languages and the ids around a source. The sizes are the embeddings' rows.
void read_marian_text(const Checkpoint& checkpoint, uint32_t source_vocab_size, uint32_t target_vocab_size,
                      ModelSpec& spec);

}  // namespace goldcrest::converter
