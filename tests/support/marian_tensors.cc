// SPDX-License-Identifier: Apache-2.0
// The tensors and the config.json of a Marian checkpoint with seeded random weights.
#include "support/marian_tensors.h"
#include "support/rng.h"

namespace goldcrest::test {
namespace {
class TensorMaker {
 public:
  explicit TensorMaker(uint64_t seed) : rng_(seed) {}

  std::vector<NamedTensor> take() { return std::move(tensors_); }

  // Adds a tensor with uniform values in [center - spread, center + spread).
  NamedTensor& add(const std::string& name, std::vector<uint64_t> shape, float center, float spread) {
    uint64_t n = 1;
    for (const uint64_t size : shape) n *= size;
    std::vector<float> values(n);
    for (float& value : values) value = center + spread * rng_.uniform();
    return tensors_.emplace_back(NamedTensor{name, std::move(shape), std::move(values)});
  }

  void linear(const std::string& name, uint32_t outputs, uint32_t inputs) {
    add(name + ".weight", {outputs, inputs}, 0, std::sqrt(6.0f / static_cast<float>(outputs + inputs)));
    add(name + ".bias", {outputs}, 0, 0.1f);
  }

  void norm(const std::string& name, uint32_t d_model) {
    add(name + ".weight", {d_model}, 1, 0.1f);
    add(name + ".bias", {d_model}, 0, 0.1f);
  }

  void layer(const std::string& name, uint32_t d_model, uint32_t d_ff, bool is_decoder) {
    std::vector<std::string> attentions = {"self_attn"};
    if (is_decoder) attentions.push_back("encoder_attn");
    for (const std::string& attention : attentions) {
      for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"})
        linear(name + attention + part, d_model, d_model);
      norm(name + attention + "_layer_norm", d_model);
    }
    linear(name + "fc1", d_ff, d_model);
    linear(name + "fc2", d_model, d_ff);
    norm(name + "final_layer_norm", d_model);
  }
 private:
  Rng rng_;
  std::vector<NamedTensor> tensors_;
};
}  // namespace

std::vector<NamedTensor> marian_tensors(const MarianShape& shape, uint64_t seed) {
  TensorMaker maker(seed);
  NamedTensor& table = maker.add(
      "model.shared.weight", {shape.vocab_size, shape.d_model}, 0, 1 / std::sqrt(static_cast<float>(shape.d_model)));
  std::fill(table.values.end() - shape.d_model, table.values.end(), 0.0f);
  for (uint32_t i = 0; i < shape.encoder_layers; ++i)
    maker.layer("model.encoder.layers." + std::to_string(i) + ".", shape.d_model, shape.encoder_d_ff, false);
  for (uint32_t i = 0; i < shape.decoder_layers; ++i)
    maker.layer("model.decoder.layers." + std::to_string(i) + ".", shape.d_model, shape.decoder_d_ff, true);
  maker.add("final_logits_bias", {1, shape.vocab_size}, 0, 0.5f).values.back() = 0;
  return maker.take();
}

nlohmann::json marian_config(const MarianShape& shape) {
  const uint32_t pad = shape.vocab_size - 1;
  return {{"model_type", "marian"}, {"activation_function", "swish"}, {"vocab_size", shape.vocab_size},
      {"d_model", shape.d_model}, {"encoder_layers", shape.encoder_layers}, {"decoder_layers", shape.decoder_layers},
      {"encoder_attention_heads", shape.encoder_heads}, {"decoder_attention_heads", shape.decoder_heads},
      {"encoder_ffn_dim", shape.encoder_d_ff}, {"decoder_ffn_dim", shape.decoder_d_ff},
      {"max_position_embeddings", shape.max_positions}, {"max_length", shape.max_positions}, {"scale_embedding", true},
      {"static_position_embeddings", true}, {"num_beams", 4}, {"pad_token_id", pad}, {"decoder_start_token_id", pad},
      {"bad_words_ids", {{pad}}}, {"eos_token_id", 0}};
}
}  // namespace goldcrest::test
