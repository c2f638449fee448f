// SPDX-License-Identifier: Apache-2.0
// Hugging Face's generation settings.
#pragma once

#include <string>
#include <vector>
#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Every setting of transformers' GenerationConfig: those that are read, those without effect here, and those that are
// not supported.

// Adds a warning for each setting that this search does not support. If `generation` is a generation_config.json, also
// warns of each unknown setting; a config.json has many others. The family reads `own_keys` itself.
void warn_of_unsupported(const Config& generation, bool is_generation_file, const std::vector<std::string>& own_keys,
    std::vector<std::string>& warnings);

// Adds a warning for each search setting of config.json that transformers ignores because there is a
// generation_config.json.
void warn_of_ignored(const Config& generation, const Config& config, std::vector<std::string>& warnings);

struct GenerationBounds {
  uint32_t target_vocab_size = 0;
  uint32_t max_positions = 0;  // the decoder's
  bool has_generation_file = false;
  // The end id that the family's configuration in transformers forces by default, if config.json does not set one.
  std::optional<uint32_t> usual_forced_end = {};
  // The start that the family has where no setting tells it. Without one the padding starts a target.
  std::optional<uint32_t> usual_start = {};
  // Further settings, which the family reads itself.
  std::vector<std::string> own_keys = {};
  // Ids before the first new one that max_length counts.
  uint32_t n_counted = 1;
};

// Reads the settings from generation_config.json if there is one, as transformers does, else from config.json. A
// setting that this engine does not support becomes a warning. Token ids of the source are not set.
GenerationSpec hugging_face_generation(
    const Config& generation, const Config& config, const GenerationBounds& bounds, std::vector<std::string>& warnings);
}  // namespace goldcrest::converter
