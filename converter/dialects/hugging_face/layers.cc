// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/layers.h"

namespace goldcrest::converter {
namespace {

// Follow the layer's prefix; the projections and the norm follow the attention's name.
constexpr const char *kSelfAttention = ".self_attn", *kCrossAttention = ".encoder_attn";
constexpr const char *kQuery = ".q_proj", *kKey = ".k_proj", *kValue = ".v_proj", *kOut = ".out_proj";
constexpr const char* kAttentionNorm = "_layer_norm";
constexpr const char *kInner = ".fc1", *kOuter = ".fc2", *kLastNorm = ".final_layer_norm";

AttentionSpec read_attention(const std::string& prefix, const LayerShape& shape, TensorReader& tensors) {
  const auto projection = [&](const char* name, bool has_bias = true) {
    return tensors.linear(prefix + name, shape.d_model, shape.d_model, has_bias);
  };
  return {projection(kQuery), projection(kKey, shape.has_key_bias), projection(kValue), projection(kOut),
          tensors.norm(prefix + kAttentionNorm, shape.d_model, true, shape.norm_epsilon)};
}

void add_linear(const std::string& prefix, uint64_t outputs, uint64_t inputs, std::vector<ShapedTensor>& tensors) {
  tensors.push_back({prefix + ".weight", {outputs, inputs}});
  tensors.push_back({prefix + ".bias", {outputs}});
}

void add_attention(const std::string& prefix, const LayerShape& shape, std::vector<ShapedTensor>& tensors) {
  const uint32_t d_model = shape.d_model;
  for (const char* name : {kQuery, kKey, kValue, kOut}) {
    add_linear(prefix + name, d_model, d_model, tensors);
    if (name == kKey && !shape.has_key_bias) tensors.pop_back();
  }
  add_norm_tensors(prefix + kAttentionNorm, d_model, tensors);
}

}  // namespace

LayerSpec read_layer(const std::string& prefix, const LayerShape& shape, TensorReader& tensors) {
  LayerSpec layer;
  layer.self_attention = read_attention(prefix + kSelfAttention, shape, tensors);
  if (shape.is_decoder) layer.cross_attention = read_attention(prefix + kCrossAttention, shape, tensors);
  layer.feed_forward = {tensors.linear(prefix + kInner, shape.d_ff, shape.d_model, true),
                        tensors.linear(prefix + kOuter, shape.d_model, shape.d_ff, true),
                        tensors.norm(prefix + kLastNorm, shape.d_model, true, shape.norm_epsilon)};
  return layer;
}

void add_layer_tensors(const std::string& prefix, const LayerShape& shape, std::vector<ShapedTensor>& tensors) {
  add_attention(prefix + kSelfAttention, shape, tensors);
  if (shape.is_decoder) add_attention(prefix + kCrossAttention, shape, tensors);
  add_linear(prefix + kInner, shape.d_ff, shape.d_model, tensors);
  add_linear(prefix + kOuter, shape.d_model, shape.d_ff, tensors);
  add_norm_tensors(prefix + kLastNorm, shape.d_model, tensors);
}

void add_norm_tensors(const std::string& prefix, uint32_t d_model, std::vector<ShapedTensor>& tensors) {
  tensors.push_back({prefix + ".weight", {d_model}});
  tensors.push_back({prefix + ".bias", {d_model}});
}

}  // namespace goldcrest::converter
