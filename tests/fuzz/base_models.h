// SPDX-License-Identifier: Apache-2.0
// The models that fuzz_model's inputs change.
#pragma once

#include "fuzz/metadata_tree.h"

namespace goldcrest::test {
// The parts of a file.
struct ModelParts {
  MetadataTable metadata;
  std::vector<std::vector<uint8_t>> sections;
};

// Small models of every kind.
const std::vector<ModelParts>& base_models();

// Trained tokenizers, shortlists with all kinds of weights, and layers that threads share. These take longer.
const std::vector<ModelParts>& richer_models();

// Small models with the choices of recent families: a table of languages, with and without default ones; gates; biases
// by distance. They have bytes of their own, so that older inputs keep their models.
const std::vector<ModelParts>& family_models();

// A model of texts with fine inputs in every matrix, and another with weights of 4 bits.
const std::vector<ModelParts>& fine_models();

// Models that take samples, with and without a log-mel, or feature rows.
const std::vector<ModelParts>& speech_models();

// A model of one megabyte, so only few inputs use it.
const ModelParts& large_model();

// A model with as many layers as a file may have, which share their matrices. At the greatest limits its keys and
// values take more memory than a plan can place. It is slow, so only few inputs use it.
const ModelParts& far_model();
}  // namespace goldcrest::test
