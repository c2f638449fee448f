// SPDX-License-Identifier: Apache-2.0
// The models that fuzz_model's inputs change.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/metadata_tree.h"

namespace goldcrest::test {

// What a file consists of.
struct ModelParts {
  MetadataTable metadata;
  std::vector<std::vector<uint8_t>> sections;
};

// Small ones of every kind.
const std::vector<ModelParts>& base_models();

// Tokenizers as they are trained, shortlists in all kinds of weights, and layers that threads share. They take longer.
const std::vector<ModelParts>& richer_models();

// A megabyte, and so for few inputs.
const ModelParts& large_model();

// As many layers as there may be, which share their matrices, and so many positions that with the greatest limits keys
// and values take more memory than a plan can place. Slow, and so for few inputs.
const ModelParts& far_model();

}  // namespace goldcrest::test
