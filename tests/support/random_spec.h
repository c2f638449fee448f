// SPDX-License-Identifier: Apache-2.0
// A small model with seeded random weights. No dimension is a multiple of 16, and the stacks differ in every dimension.
#pragma once

#include "converter/spec/spec.h"
#include "support/rng.h"
#include "support/standard.h"

namespace goldcrest::test {
// Parts of a model with uniform values in [-1, 1).
class RandomFloats {
 public:
  explicit RandomFloats(uint64_t seed) : rng_(seed) {}

  float next() { return rng_.uniform(); }

  std::vector<float> vector(size_t n) {
    std::vector<float> values(n);
    for (float& value : values) value = next();
    return values;
  }

  converter::Matrix matrix(std::string name, uint32_t rows, uint32_t columns) {
    return {std::move(name), rows, columns, vector(size_t{rows} * columns)};
  }

  converter::LinearSpec linear(std::string name, uint32_t outputs, uint32_t inputs) {
    return {std::make_shared<converter::Matrix>(matrix(std::move(name), outputs, inputs)), vector(outputs)};
  }

  converter::NormSpec norm(uint32_t d_model) { return {vector(d_model), vector(d_model), 1e-5f}; }

  converter::AttentionSpec attention(
      const std::string& name, const converter::StackSpec& stack, uint32_t memory_width) {
    const uint32_t width = stack.n_heads * stack.d_head;
    return {linear(name + ".query", width, stack.d_model), linear(name + ".key", width, memory_width),
        linear(name + ".value", width, memory_width), linear(name + ".out", stack.d_model, width), norm(stack.d_model)};
  }

  converter::RecurrentSpec recurrent(const std::string& name, uint32_t d_model) {
    return {linear(name + ".input", d_model, d_model), linear(name + ".forget", d_model, d_model), norm(d_model)};
  }
 private:
  Rng rng_;
};

struct RandomStack {
  std::string name;
  uint32_t vocab_size, n_layers;
  uint32_t source_width;  // the encoder's d_model; 0 for the encoder itself
};

// Fills embedding, positions and layers of a stack whose dimensions are set.
inline void fill_stack(RandomFloats& random, const RandomStack& wanted, converter::StackSpec& stack) {
  const auto& [name, vocab_size, n_layers, source_width] = wanted;
  stack.embedding = std::make_shared<converter::Matrix>(random.matrix(name + ".embedding", vocab_size, stack.d_model));
  stack.positions = random.matrix(name + ".positions", 11, stack.d_model);
  for (uint32_t i = 0; i < n_layers; ++i) {
    const std::string path = name + ".layers." + std::to_string(i);
    converter::LayerSpec layer = {.self_attention = random.attention(path + ".self_attention", stack, stack.d_model)};
    if (source_width != 0) layer.cross_attention = random.attention(path + ".cross_attention", stack, source_width);
    layer.feed_forward = {random.linear(path + ".in", stack.d_ff, stack.d_model),
        random.linear(path + ".out", stack.d_model, stack.d_ff), random.norm(stack.d_model)};
    stack.layers.push_back(std::move(layer));
  }
}

inline converter::ModelSpec random_spec(uint64_t seed) {
  RandomFloats random(seed);
  converter::ModelSpec spec = {
      .encoder = {.d_model = 20, .d_ff = 33, .n_heads = 2, .d_head = 10, .attention_scale = 0.25f, .pre_norm = true}};
  fill_stack(random, {"encoder", 19, 1, 0}, spec.encoder);
  spec.encoder.final_norm = random.norm(spec.encoder.d_model);
  spec.decoder.d_model = 24;
  spec.decoder.d_ff = 40;
  spec.decoder.n_heads = 3;
  spec.decoder.d_head = 18;
  spec.decoder.attention_scale = 0.5f;
  spec.decoder.activation = converter::Activation::kSilu;
  spec.decoder.embedding_scale = 2;
  fill_stack(random, {"decoder", 37, 2, spec.encoder.d_model}, spec.decoder);
  spec.decoder.embedding_norm = random.norm(spec.decoder.d_model);
  spec.projection = random.linear("projection", 37, spec.decoder.d_model);
  spec.generation.decoder_start_id = 36;
  spec.generation.pad_id = 36;
  spec.generation.suppressed_ids = {36};
  spec.generation.source_suffix = {0};
  spec.generation.max_target_tokens = 7;
  spec.name = "random";
  spec.license = "CC0-1.0";
  spec.dialect = "test";
  return spec;
}

// The same with recurrent blocks instead of the decoder's self-attention.
inline converter::ModelSpec random_recurrent_spec(uint64_t seed) {
  converter::ModelSpec spec = random_spec(seed);
  RandomFloats random(seed + 1);
  for (size_t i = 0; i < spec.decoder.layers.size(); ++i) {
    converter::LayerSpec& layer = spec.decoder.layers[i];
    layer.self_attention.reset();
    layer.recurrent = random.recurrent("decoder.layers." + std::to_string(i) + ".recurrent", spec.decoder.d_model);
  }
  return spec;
}
}  // namespace goldcrest::test
