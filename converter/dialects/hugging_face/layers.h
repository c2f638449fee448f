// SPDX-License-Identifier: Apache-2.0
// Layers, activations and tables of encoder-decoders. Most families of transformers name their tensors alike.
#pragma once

#include <string>
#include <vector>
#include "dialects/config.h"
#include "dialects/tensor_reader.h"
#include "sources/containers/shape_tensors.h"
#include "spec/spec.h"

namespace goldcrest::converter {
struct LayerShape {
  uint32_t d_model = 0, d_ff = 0;
  float norm_epsilon = 0;
  bool is_decoder = false;  // with cross-attention
  bool has_key_bias = true;
  uint32_t source_width = 0;  // inputs of the cross-attention's keys and values; 0: d_model
};

// `prefix`: for instance "model.encoder.layers.0".
LayerSpec read_layer(const std::string& prefix, const LayerShape& shape, TensorReader& tensors);

// The activations of a feed-forward network, by transformers' names (transformers/activations.py at v5.2).

// for messages: the usual names
inline constexpr const char* kActivationNames = "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish";

// Throws Error if the setting `key` names no activation.
Activation read_activation(const Config& config, const char* key);

// The embedding tables and the output projection, which transformers may tie to one another.

// The names of a family's tables.
struct TableTensors {
  const char *shared, *encoder, *decoder, *head;
  const char* head_bias;  // the projection's; zeros if the checkpoint has none
};

struct TableSettings {
  bool shared = false;  // the encoder and the decoder use the same table
  bool tied = false;    // the projection uses it too
  uint32_t source_rows = 0, target_rows = 0, d_model = 0;
};

// Reads the embeddings and the projection as transformers 5 loads them. A place that has a table of its own keeps it,
// even if config.json ties it. Any other place takes the table that it is tied to.
void read_tables(const TableTensors& names, const TableSettings& settings, TensorReader& tensors, ModelSpec& spec);
}  // namespace goldcrest::converter
