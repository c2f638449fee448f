// SPDX-License-Identifier: Apache-2.0
// Small checkpoints with the names of each tutorial's Transformer, which tests change before they load them.
#pragma once

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/dialects/dialect.h"
#include "support/checkpoint_writer.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {

enum class TutorialKind { kAnnotated, kSeq2Seq, kTrevett };

inline const std::vector<std::pair<TutorialKind, const char*>> kTutorials = {
    {TutorialKind::kAnnotated, "annotated_transformer"},
    {TutorialKind::kSeq2Seq, "seq2seq_transformer"},
    {TutorialKind::kTrevett, "trevett_transformer"}};

// Two encoder layers and one decoder layer of width 8 with 2 heads, 9 source and 7 target words, 10 positions.
class TutorialFolder {
 public:
  static constexpr uint32_t kWidth = 8, kInner = 12, kPositions = 10, kSourceWords = 9, kTargetWords = 7;

  explicit TutorialFolder(TutorialKind of) : kind(of) {
    const std::string module = kind == TutorialKind::kSeq2Seq ? "transformer." : "";
    for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1.", "decoder.layers.0."})
      add_layer(module + layer, layer[0] == 'd');
    if (kind == TutorialKind::kTrevett) {
      for (const std::string stack : {"encoder.", "decoder."}) {
        add(stack + "tok_embedding.weight", {stack[0] == 'e' ? kSourceWords : kTargetWords, kWidth});
        add(stack + "pos_embedding.weight", {kPositions, kWidth});
      }
      add_pair("decoder.fc_out", {kTargetWords, kWidth});
      return;
    }
    for (const std::string stack : {"encoder", "decoder"}) add_norm(module + stack + ".norm");
    const bool is_annotated = kind == TutorialKind::kAnnotated;
    add(is_annotated ? "src_embed.0.lut.weight" : "src_tok_emb.embedding.weight", {kSourceWords, kWidth});
    add(is_annotated ? "tgt_embed.0.lut.weight" : "tgt_tok_emb.embedding.weight", {kTargetWords, kWidth});
    add_pair(is_annotated ? "generator.proj" : "generator", {kTargetWords, kWidth});
    if (is_annotated) {
      for (const char* name : {"src_embed.1.pe", "tgt_embed.1.pe"}) add_sinusoids(name, {1, kPositions, kWidth});
    } else {
      add_sinusoids("positional_encoding.pos_embedding", {kPositions, 1, kWidth});
    }
  }

  void add(const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (const uint64_t size : shape) n *= size;
    std::vector<float> values(n);
    for (float& value : values) value = rng_.uniform();
    tensors[name] = {name, shape, std::move(values)};
  }
  void add_pair(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }

  // Puts `prefix` before every name.
  void wrap(const std::string& prefix) {
    const std::map<std::string, NamedTensor> before = std::exchange(tensors, {});
    for (const auto& [name, tensor] : before) tensors[prefix + name] = {prefix + name, tensor.shape, tensor.values};
  }

  void write() const {
    folder.write("config.json", config.dump());
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back(tensor);
    std::ofstream stream(folder / "model.pt", std::ios::binary);
    write_torch_zip(stream, all, converter::ElementType::kF32);
  }
  converter::ModelSpec load() const {
    write();
    return converter::load_checkpoint(folder.path(), {});
  }

  TutorialKind kind;
  TemporaryFolder folder;
  std::map<std::string, NamedTensor> tensors;
  nlohmann::json config = {{"nhead", 2}, {"bos_token", 0}, {"eos_token", 1}};

 private:
  void add_norm(const std::string& name) {
    const bool is_annotated = kind == TutorialKind::kAnnotated;
    for (const char* end : {is_annotated ? ".a_2" : ".weight", is_annotated ? ".b_2" : ".bias"})
      add(name + end, {kWidth});
  }

  void add_layer(const std::string& layer, bool is_decoder) {
    switch (kind) {
      case TutorialKind::kAnnotated:
        for (const std::string attention : {"self_attn", "src_attn"}) {
          for (const std::string linear : {"0", "1", "2", "3"})
            if (is_decoder || attention == "self_attn")
              add_pair(layer + attention + ".linears." + linear, {kWidth, kWidth});
        }
        add_pair(layer + "feed_forward.w_1", {kInner, kWidth});
        add_pair(layer + "feed_forward.w_2", {kWidth, kInner});
        for (const std::string block : {"0", "1", "2"})
          if (is_decoder || block != "2") add_norm(layer + "sublayer." + block + ".norm");
        return;
      case TutorialKind::kSeq2Seq:
        for (const std::string attention : {"self_attn.", "multihead_attn."}) {
          if (!is_decoder && attention[0] == 'm') continue;
          add(layer + attention + "in_proj_weight", {3 * kWidth, kWidth});
          add(layer + attention + "in_proj_bias", {3 * kWidth});
          add_pair(layer + attention + "out_proj", {kWidth, kWidth});
        }
        add_pair(layer + "linear1", {kInner, kWidth});
        add_pair(layer + "linear2", {kWidth, kInner});
        for (const std::string norm : {"norm1", "norm2", "norm3"})
          if (is_decoder || norm != "norm3") add_norm(layer + norm);
        return;
      case TutorialKind::kTrevett:
        for (const std::string attention : {"self_attention", "encoder_attention"}) {
          for (const std::string linear : {"q", "k", "v", "o"})
            if (is_decoder || attention[0] == 's') add_pair(layer + attention + ".fc_" + linear, {kWidth, kWidth});
        }
        add_pair(layer + "positionwise_feedforward.fc_1", {kInner, kWidth});
        add_pair(layer + "positionwise_feedforward.fc_2", {kWidth, kInner});
        for (const std::string norm : {"self_attn_layer_norm", "enc_attn_layer_norm", "ff_layer_norm"})
          if (is_decoder || norm[0] != 'e') add_norm(layer + norm);
        return;
    }
  }

  void add_sinusoids(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name, shape);
    for (uint32_t p = 0; p < kPositions; ++p) {
      for (uint32_t i = 0; i < kWidth; ++i) {
        const uint32_t even = i - i % 2;
        const double angle = p * std::pow(10000.0, -static_cast<double>(even) / kWidth);
        tensors[name].values[p * kWidth + i] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  }

  Rng rng_{11};
};

}  // namespace goldcrest::test
