// SPDX-License-Identifier: Apache-2.0
// A layer's blocks by the engine's lists (model/blocks.h): the blocks of a spec, and the parts of their matrices.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>
#include "model/blocks.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Returns a layer's block, which may be optional or always present.
template <typename Block> const Block* given_block(const std::optional<Block>& block) {
  return block ? &*block : nullptr;
}
template <typename Block> const Block* given_block(const Block& block) { return &block; }

// Returns the linear layers that form the rows of a stored matrix. A single layer is named like the matrix.
inline std::vector<LinearPart> parts_of(const MatrixEntry& entry, const LinearSpec& linear) {
  return {{std::strrchr(entry.name, '.') + 1, &linear}};
}
inline std::vector<LinearPart> parts_of(const MatrixEntry& entry, const InnerSpec& inner) {
  const LinearSpec& linear = inner;
  if (inner.gate) return {{"gate", &*inner.gate}, {"in", &linear}};
  return parts_of(entry, linear);
}
inline std::vector<LinearPart> parts_of(const MatrixEntry&, const std::vector<LinearPart>& parts) { return parts; }

// Returns the groups of one dimension of a matrix, or of one of its n_parts equal parts.
inline Groups groups_of_part(const Dimension& dimension, const StackGroups& stack, size_t n_parts) {
  Groups groups = stack.of(dimension.width);
  groups.count = groups.count * dimension.times / static_cast<uint32_t>(n_parts);
  return groups;
}

// Returns the features that a file needs for a stem. Fine inputs are int8's, but the bit allows them in any file.
inline uint32_t frontend_features(const FrontendSpec& frontend) {
  uint32_t features = kFeatureFrontend | (frontend.log_mel ? kFeatureLogMel : 0) | (frontend.image ? kFeatureImage : 0);
  for (const ConvolutionSpec& convolution : frontend.convolutions)
    if (convolution.linear.fine_input) features |= kFeatureRefined;
  return features;
}

// Returns the features that a file needs for the choices of its stacks, the blocks of their layers and its sequences.
inline uint32_t block_features(const ModelSpec& spec) {
  uint32_t features = spec.generation.sequences != SequencesSpec{} ? kFeatureSequences : 0;
  for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    if (!stack->centred) features |= kFeatureRmsNorm;
    if (stack->gated) features |= kFeatureGated;
    if (stack->rotary) features |= kFeatureRotary;
    if (stack->head) features |= kFeatureImage;
    if (stack->frontend) features |= frontend_features(*stack->frontend);
    for (const LayerSpec& layer : stack->layers) {
      for_each_block(
          [&](auto block, const auto& of_layer) {
            const auto* const given = given_block(of_layer);
            if (given == nullptr) return;
            features |= block.kFeature;
            if (bias_of(*given) != nullptr) features |= kFeatureAttentionBias;
          },
          layer);
    }
  }
  return features;
}
}  // namespace goldcrest::converter
