// SPDX-License-Identifier: Apache-2.0
// The tensors of a Marian checkpoint with this config.json.

#include "base/bounds.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/marian.h"
#include "sources/values/value.h"
#include "spec/format_text.h"

namespace goldcrest::converter {

std::vector<ShapedTensor> marian_tensors(const Config& config) {
  const std::filesystem::path generation = config.path().parent_path() / "generation_config.json";
  std::error_code error;
  const bool has_generation = std::filesystem::exists(generation, error);
  check_marian_settings(config, has_generation ? Config(generation) : Config(Value::map(), "", {}));
  const uint32_t d_model = config.count("d_model", 2, kMaxWidth);
  const uint64_t source = config.count("vocab_size", 1, kMaxVocabulary);
  const bool shared = config.flag_or("share_encoder_decoder_embeddings", true);
  const uint64_t target =
      shared ? source : config.count_or("decoder_vocab_size", static_cast<uint32_t>(source), 1, kMaxVocabulary);
  const bool tied = config.flag_or("tie_word_embeddings", true);
  const bool has_one_table = shared && tied;  // as transformers 5 saves them
  std::vector<ShapedTensor> tensors;
  if (has_one_table) tensors.push_back({kMarianTables.shared, {source, d_model}});
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string prefix = "model." + stack;
    const bool is_decoder = stack == "decoder";
    if (!has_one_table) {
      tensors.push_back(
          {is_decoder ? kMarianTables.decoder : kMarianTables.encoder, {is_decoder ? target : source, d_model}});
    }
    if (!config.flag_or("static_position_embeddings", true)) {
      const uint64_t rows = config.count_or("max_position_embeddings", 1024, 1, kMaxPositions);
      tensors.push_back({prefix + ".embed_positions.weight", {rows, d_model}});
    }
    if (config.flag_or("normalize_embedding", false))
      add_norm_tensors(prefix + ".layernorm_embedding", d_model, tensors);
    if (config.flag_or("add_final_layer_norm", false)) add_norm_tensors(prefix + ".layer_norm", d_model, tensors);
    const LayerShape shape = {d_model, config.count(stack + "_ffn_dim", 1, kMaxWidth), 0, is_decoder};
    const uint32_t layers = config.count(stack + "_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < layers; ++i) add_layer_tensors(format_text("{}.layers.{}", prefix, i), shape, tensors);
  }
  if (!tied) tensors.push_back({kMarianTables.head, {target, d_model}});
  return tensors;
}

}  // namespace goldcrest::converter
