// SPDX-License-Identifier: Apache-2.0
// A small nn.Transformer checkpoint, which tests change before they load it.
#pragma once

#include <nlohmann/json.hpp>
#include "converter/dialects/dialect.h"
#include "support/checkpoint_writer.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
// Two encoder layers and one decoder layer of width 8, 5 source words and 6 target characters.
class NnFolder {
 public:
  NnFolder() {
    for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1.", "decoder.layers.0."})
      add_layer("transformer." + layer);
    add_pair("transformer.encoder.norm", {8});
    add_pair("transformer.decoder.norm", {8});
    add("source.weight", {5, 8});
    add("target.weight", {6, 8});
    add_pair("head", {6, 8});
  }

  void add(const std::string& name, std::vector<uint64_t> shape) {
    uint64_t n = 1;
    for (const uint64_t size : shape) n *= size;
    std::vector<float> values(n);
    for (float& value : values) value = rng_.uniform();
    tensors[name] = {name, std::move(shape), std::move(values)};
  }
  // Adds a weight, and a bias of its first size.
  void add_pair(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }
  void rename_all(const std::function<std::string(const std::string&)>& name_of) {
    const std::map<std::string, NamedTensor> before = std::exchange(tensors, {});
    for (const auto& [name, tensor] : before) tensors[name_of(name)] = {name_of(name), tensor.shape, tensor.values};
  }
  const std::vector<float>& values(const std::string& name) const { return tensors.at(name).values; }

  converter::ModelSpec load() {
    folder.write("config.json", config.dump());
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back(tensor);
    std::ofstream stream(folder / "weights.pt", std::ios::binary);
    write_torch_zip(stream, all, converter::ElementType::kF32);
    stream.close();
    return converter::load_checkpoint(folder.path(), {});
  }

  TemporaryFolder folder;
  std::map<std::string, NamedTensor> tensors;
  nlohmann::json config = {{"model_type", "nn_transformer"}, {"nhead", 2}, {"activation", "relu"},
      {"norm_first", false}, {"scale_embedding", true}, {"position_encoding", "sinusoidal_interleaved"},
      {"max_positions", 10}, {"source_unit", "word"}, {"target_unit", "character"},
      {"source_vocabulary", {"<pad>", "<s>", "</s>", "<unk>", "one"}},
      {"target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "b"}}, {"pad_token", "<pad>"}, {"bos_token", "<s>"},
      {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"add_source_eos", true},
      {"tensors", {{"source_embedding", "source.weight"}, {"target_embedding", "target.weight"},
                      {"output_projection", "head"}}}};
 private:
  void add_layer(const std::string& prefix) {
    const bool is_decoder = prefix.find("decoder") != std::string::npos;
    std::vector<std::string> attentions = {"self_attn"};
    if (is_decoder) attentions.push_back("multihead_attn");
    for (const std::string& attention : attentions) {
      add(prefix + attention + ".in_proj_weight", {24, 8});
      add(prefix + attention + ".in_proj_bias", {24});
      add_pair(prefix + attention + ".out_proj", {8, 8});
    }
    add_pair(prefix + "linear1", {12, 8});
    add_pair(prefix + "linear2", {8, 12});
    for (const std::string norm : {"norm1", "norm2", "norm3"})
      if (is_decoder || norm != "norm3") add_pair(prefix + norm, {8});
  }

  Rng rng_{7};
};
}  // namespace goldcrest::test
