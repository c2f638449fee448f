// SPDX-License-Identifier: Apache-2.0
// The tensors and the config.json of a Marian checkpoint with seeded random weights.
#pragma once

#include <nlohmann/json.hpp>
#include "support/checkpoint_writer.h"

namespace goldcrest::test {
struct MarianShape {
  uint32_t vocab_size = 0, d_model = 0, encoder_layers = 0, decoder_layers = 0;
  uint32_t encoder_heads = 0, decoder_heads = 0, encoder_d_ff = 0, decoder_d_ff = 0, max_positions = 0;
};

// The row of the last id, the padding, is zero. model.shared.weight comes first.
std::vector<NamedTensor> marian_tensors(const MarianShape& shape, uint64_t seed);

// The end token is 0. The padding, which also starts the decoder, is the last id.
nlohmann::json marian_config(const MarianShape& shape);
}  // namespace goldcrest::test
