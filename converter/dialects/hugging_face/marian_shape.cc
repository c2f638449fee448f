// SPDX-License-Identifier: Apache-2.0
// The tensors that a Marian checkpoint with this config.json has.
#include <fmt/format.h>

#include "base/bounds.h"
#include "dialects/hugging_face/marian.h"

namespace goldcrest::converter {

std::vector<ShapedTensor> marian_tensors(const Config& config) {
  const std::filesystem::path generation = config.path().parent_path() / "generation_config.json";
  std::error_code error;
  const bool has_generation = std::filesystem::exists(generation, error);
  check_marian_settings(config, has_generation ? Config(generation) : Config(nlohmann::json::object(), "", {}));
  const uint64_t d_model = config.count("d_model", 2, kMaxWidth);
  const uint64_t source = config.count("vocab_size", 1, kMaxVocabulary);
  const bool shared = config.flag_or("share_encoder_decoder_embeddings", true);
  const uint64_t target =
      shared ? source : config.count_or("decoder_vocab_size", static_cast<uint32_t>(source), 1, kMaxVocabulary);
  const bool tied = config.flag_or("tie_word_embeddings", true);
  const bool has_one_table = shared && tied;  // as transformers 5 saves them
  std::vector<ShapedTensor> tensors;
  const auto add = [&](const std::string& name, uint64_t outputs, uint64_t inputs) {
    tensors.push_back({name + ".weight", {outputs, inputs}});
    tensors.push_back({name + ".bias", {outputs}});
  };
  const auto add_norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", {d_model}});
    tensors.push_back({name + ".bias", {d_model}});
  };
  const auto add_attention = [&](const std::string& name) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"}) add(name + part, d_model, d_model);
    add_norm(name + "_layer_norm");
  };
  if (has_one_table) tensors.push_back({"model.shared.weight", {source, d_model}});
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string prefix = "model." + stack;
    const bool is_decoder = stack == "decoder";
    if (!has_one_table) tensors.push_back({prefix + ".embed_tokens.weight", {is_decoder ? target : source, d_model}});
    if (!config.flag_or("static_position_embeddings", true)) {
      const uint64_t rows = config.count_or("max_position_embeddings", 1024, 1, kMaxPositions);
      tensors.push_back({prefix + ".embed_positions.weight", {rows, d_model}});
    }
    if (config.flag_or("normalize_embedding", false)) add_norm(prefix + ".layernorm_embedding");
    if (config.flag_or("add_final_layer_norm", false)) add_norm(prefix + ".layer_norm");
    const uint64_t d_ff = config.count(stack + "_ffn_dim", 1, kMaxWidth);
    const uint32_t layers = config.count(stack + "_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}", prefix, i);
      add_attention(layer + ".self_attn");
      if (is_decoder) add_attention(layer + ".encoder_attn");
      add(layer + ".fc1", d_ff, d_model);
      add(layer + ".fc2", d_model, d_ff);
      add_norm(layer + ".final_layer_norm");
    }
  }
  if (!tied) tensors.push_back({"lm_head.weight", {target, d_model}});
  return tensors;
}

}  // namespace goldcrest::converter
