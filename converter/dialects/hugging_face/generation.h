// SPDX-License-Identifier: Apache-2.0
// Hugging Face's generation settings.
#pragma once

#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {

struct GenerationBounds {
  uint32_t target_vocab_size = 0;
  uint32_t max_positions = 0;  // of the decoder
  bool has_generation_file = false;
  // The end that the family's configuration in transformers forces where config.json does not speak of it.
  std::optional<uint32_t> usual_forced_end = {};
  // The start that the family has where no setting tells it. Without one the padding starts a target.
  std::optional<uint32_t> usual_start = {};
};

// Settings from generation_config.json where there is one, as transformers has it, else from config.json. A setting
// that asks for something this engine does not do becomes a warning. Token ids of the source are not set.
GenerationSpec hugging_face_generation(const Config& generation, const Config& config, const GenerationBounds& bounds,
                                       std::vector<std::string>& warnings);

}  // namespace goldcrest::converter
