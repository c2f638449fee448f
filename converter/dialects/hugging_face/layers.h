// SPDX-License-Identifier: Apache-2.0
// Layers of encoder-decoders. Most families of transformers name their tensors alike.
#pragma once

#include <string>
#include <vector>

#include "dialects/tensor_reader.h"
#include "sources/containers/shape_tensors.h"

namespace goldcrest::converter {

struct LayerShape {
  uint32_t d_model = 0, d_ff = 0;
  float norm_epsilon = 0;
  bool is_decoder = false;  // with cross-attention
  bool has_key_bias = true;
};

// `prefix`: for instance "model.encoder.layers.0".
LayerSpec read_layer(const std::string& prefix, const LayerShape& shape, TensorReader& tensors);

// Adds the tensors of such a layer to the list.
void add_layer_tensors(const std::string& prefix, const LayerShape& shape, std::vector<ShapedTensor>& tensors);

// Adds prefix + ".weight" and prefix + ".bias".
void add_norm_tensors(const std::string& prefix, uint32_t d_model, std::vector<ShapedTensor>& tensors);

}  // namespace goldcrest::converter
