// SPDX-License-Identifier: Apache-2.0
// Small checkpoints as OpenNMT-py and fairseq save them, which tests change before they load them.
#pragma once

#include <bit>
#include <nlohmann/json.hpp>
#include "converter/dialects/dialect.h"
#include "support/checkpoint_writer.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
// Writes a value as pickle does. An object with the member "__class__", "module name", is of that class.
inline void put_value(PickleWriter& pickle, const nlohmann::json& value) {
  if (value.is_null()) {
    pickle.raw("N");
  } else if (value.is_boolean()) {
    pickle.raw(value.get<bool>() ? "\x88" : "\x89");
  } else if (value.is_number_integer()) {
    pickle.integer(value.get<int64_t>());
  } else if (value.is_number_float()) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes += static_cast<char>(std::bit_cast<uint64_t>(value.get<double>()) >> shift);
    pickle.raw("G").raw(bytes);
  } else if (value.is_string()) {
    pickle.text(value.get<std::string>());
  } else if (value.is_array()) {
    pickle.raw("](");
    for (const nlohmann::json& item : value) put_value(pickle, item);
    pickle.raw("e");
  } else {
    const std::string type = value.value("__class__", "");
    if (!type.empty()) pickle.global(type.substr(0, type.find(' ')), type.substr(type.find(' ') + 1)).raw(")\x81");
    pickle.raw("}(");
    for (const auto& [key, member] : value.items()) {
      if (key == "__class__") continue;
      pickle.text(key);
      put_value(pickle, member);
    }
    pickle.raw(type.empty() ? "u" : "ub");
  }
}

// Properties of a random checkpoint. `is_old`: names of the toolkit's first versions.
struct ToolkitShape {
  bool is_fairseq = false, is_old = false, is_pre_norm = true, is_learned = false, has_embedding_norm = false,
       is_scaled = true;
};

// Two encoder layers and one decoder layer of width 8 with 2 heads, 9 source and 7 target words.
class ToolkitFolder {
 public:
  static constexpr uint32_t kWidth = 8, kInner = 12, kPositions = 16, kSourceWords = 9, kTargetWords = 7;

  explicit ToolkitFolder(const ToolkitShape& of) : shape(of) {
    for (const std::string stack : {"encoder", "decoder"}) {
      const bool is_decoder = stack == "decoder";
      add(table(stack), {is_decoder ? kTargetWords : kSourceWords, kWidth});
      for (uint32_t i = 0; i < (is_decoder ? 1 : 2); ++i) add_layer(layer(stack, i), is_decoder);
      if (shape.is_pre_norm) add_norm(stack + ".layer_norm");
      if (shape.has_embedding_norm) add_norm(stack + ".layernorm_embedding");
      add_positions(stack);
      if (shape.is_fairseq && !shape.is_old) tensors[stack + ".version"] = {stack + ".version", {1}, {3}};
    }
    const std::string name = projection();
    add(name, {kTargetWords, kWidth});
    if (!shape.is_fairseq) add(name.substr(0, name.rfind('.')) + ".bias", {kTargetWords});
    add_settings();
  }

  std::string table(const std::string& stack) const {
    return stack + (shape.is_fairseq ? ".embed_tokens.weight" : ".embeddings.make_embedding.emb_luts.0.weight");
  }
  std::string projection() const {
    if (shape.is_fairseq) return shape.is_old ? "decoder.embed_out" : "decoder.output_projection.weight";
    return shape.is_old ? "generator.0.weight" : "generator.weight";
  }
  std::string layer(const std::string& stack, uint32_t i) const {
    const char* const layers = shape.is_fairseq     ? ".layers."
                               : stack == "encoder" ? ".transformer."
                                                    : ".transformer_layers.";
    return stack + layers + std::to_string(i) + ".";
  }
  // The norm's name in block number n of an encoder's or a decoder's layer.
  std::string norm(bool is_decoder, size_t n) const {
    const bool is_last = n == (is_decoder ? 2 : 1);
    if (shape.is_fairseq && shape.is_old) return "layer_norms." + std::to_string(n);
    if (shape.is_fairseq)
      return is_last ? "final_layer_norm" : n == 0 ? "self_attn_layer_norm" : "encoder_attn_layer_norm";
    if (is_last) return "feed_forward.layer_norm";
    return is_decoder ? "layer_norm_" + std::to_string(n + 1) : "layer_norm";
  }
  std::string attention(size_t n) const {
    return n == 0 ? "self_attn." : shape.is_fairseq ? "encoder_attn." : "context_attn.";
  }
  // The name of queries, keys, values or output.
  std::string linear(size_t n) const {
    constexpr const char* kFairseq[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    constexpr const char* kOpenNmt[] = {"linear_query", "linear_keys", "linear_values", "final_linear"};
    return (shape.is_fairseq ? kFairseq : kOpenNmt)[n];
  }
  std::string inner() const { return shape.is_fairseq ? "fc1" : "feed_forward.w_1"; }
  std::string outer() const { return shape.is_fairseq ? "fc2" : "feed_forward.w_2"; }
  bool is_fused() const { return shape.is_fairseq && shape.is_old; }
  std::string gamma() const { return !shape.is_fairseq && shape.is_old ? ".a_2" : ".weight"; }
  std::string beta() const { return !shape.is_fairseq && shape.is_old ? ".b_2" : ".bias"; }

  void add(const std::string& name, const std::vector<uint64_t>& size) {
    uint64_t n = 1;
    for (const uint64_t axis : size) n *= axis;
    std::vector<float> values(n);
    for (float& value : values) value = rng_.uniform();
    tensors[name] = {name, size, std::move(values)};
  }

  std::filesystem::path weights() const { return folder / "model.pt"; }

  // The checkpoint's pickle, with the storages' keys in the order of the tensors.
  std::string pickle() const {
    PickleWriter pickle;
    pickle.raw("}(");
    const auto put_tensors = [&](const char* key, bool is_generator) {
      pickle.text(key).raw("}(");
      size_t i = 0;
      for (const auto& [name, tensor] : tensors) {
        const std::string storage = std::to_string(i++), prefix = "generator.";
        if (name.starts_with(prefix) != is_generator) continue;
        std::vector<uint64_t> strides(tensor.shape.size());
        uint64_t stride = 1;
        for (size_t axis = strides.size(); axis-- > 0; stride *= tensor.shape[axis]) strides[axis] = stride;
        pickle.text(is_generator ? name.substr(prefix.size()) : name)
            .tensor({"FloatStorage", storage, tensor.values.size(), 0, tensor.shape, strides});
      }
      pickle.raw("u");
    };
    put_tensors("model", false);
    if (!shape.is_fairseq) put_tensors("generator", true);
    for (const auto& [key, value] : saved.items()) {
      pickle.text(key);
      put_value(pickle, value);
    }
    return pickle.raw("u").finish();
  }

  void write(const std::string& data) const {
    std::ofstream stream(weights(), std::ios::binary);
    ZipWriter zip(stream);
    zip.add({"archive/data.pkl", data});
    size_t i = 0;
    for (const auto& [name, tensor] : tensors)
      zip.add({"archive/data/" + std::to_string(i++), element_bytes_of(tensor.values, converter::ElementType::kF32)});
    zip.finish();
  }
  void write() const {
    write(pickle());
    for (const auto& [name, content] : files) folder.write(name, content);
  }
  converter::ModelSpec load(const converter::LoadOptions& options = {}) const {
    write();
    return converter::load_checkpoint(folder.path(), options);
  }

  const ToolkitShape shape;
  TemporaryFolder folder;
  std::map<std::string, NamedTensor> tensors;
  nlohmann::json saved;  // stored with the tensors
  std::map<std::string, std::string> files;
 private:
  void add_pair(const std::string& name, const std::vector<uint64_t>& size) {
    add(name + ".weight", size);
    add(name + ".bias", {size[0]});
  }
  void add_norm(const std::string& name) {
    add(name + gamma(), {kWidth});
    add(name + beta(), {kWidth});
  }

  void add_layer(const std::string& prefix, bool is_decoder) {
    for (size_t n = 0; n < (is_decoder ? 2 : 1); ++n) {
      if (is_fused()) {
        add(prefix + attention(n) + "in_proj_weight", {3 * kWidth, kWidth});
        add(prefix + attention(n) + "in_proj_bias", {3 * kWidth});
      }
      for (size_t l = is_fused() ? 3 : 0; l < 4; ++l) add_pair(prefix + attention(n) + linear(l), {kWidth, kWidth});
    }
    for (size_t n = 0; n < (is_decoder ? 3 : 2); ++n) add_norm(prefix + norm(is_decoder, n));
    add_pair(prefix + inner(), {kInner, kWidth});
    add_pair(prefix + outer(), {kWidth, kInner});
  }

  void add_positions(const std::string& stack) {
    if (shape.is_learned) return add(stack + ".embed_positions.weight", {kPositions + 2, kWidth});
    const std::string buffer = stack + ".embed_positions._float_tensor";
    if (shape.is_fairseq) {
      tensors[buffer] = {buffer, {1}, {std::nanf("")}};
      return;
    }
    const std::string name = stack + ".embeddings.make_embedding.pe.pe";
    add(name, {kPositions, 1, kWidth});
    for (uint32_t p = 0; p < kPositions; ++p) {
      for (uint32_t i = 0; i < kWidth; ++i) {
        const double angle = p * std::pow(10000.0, -static_cast<double>(i - i % 2) / kWidth);
        tensors[name].values[p * kWidth + i] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  }

  void add_settings() {
    if (shape.is_fairseq) {
      nlohmann::json options = {{"arch", "transformer_tiny"}, {"activation_fn", "relu"},
          {"max_source_positions", kPositions}, {"max_target_positions", kPositions},
          {"adaptive_softmax_cutoff", nullptr}, {"dropout", 0.1}, {"layernorm_embedding", shape.has_embedding_norm},
          {"no_scale_embedding", !shape.is_scaled}, {"encoder_layers", 2}, {"decoder_layers", 1}};
      for (const std::string stack : {"encoder", "decoder"}) {
        options.update(
            {{stack + "_embed_dim", kWidth}, {stack + "_ffn_embed_dim", kInner}, {stack + "_attention_heads", 2},
                {stack + "_normalize_before", shape.is_pre_norm}, {stack + "_learned_pos", shape.is_learned}});
      }
      const nlohmann::json task = {{"_name", "translation"}, {"source_lang", "de"}, {"target_lang", "en"}};
      if (shape.is_old) {
        options.update({{"__class__", "argparse Namespace"}, {"task", "translation"}, {"source_lang", "de"},
            {"target_lang", "en"}});
        saved = {{"args", options}};
      } else {
        saved = {{"args", nullptr}, {"cfg", {{"model", options}, {"task", task}, {"common", {{"seed", 1}}}}}};
      }
      files = {{"dict.de.txt", "a 9\nb 8\nc 7\nmadeupword0000 0\nd 5\n"}, {"dict.en.txt", "x 3\ny 2\nz 1\n"}};
      return;
    }
    const nlohmann::json source = {"<unk>", "<blank>", "<s>", "</s>", "a", "b", "c", "d", "e"},
                         target = {"<unk>", "<blank>", "<s>", "</s>", "x", "y", "z"};
    const auto torchtext = [](const char* name, const nlohmann::json& tokens) {
      const nlohmann::json vocabulary = {{"__class__", "torchtext.vocab Vocab"}, {"itos", tokens}};
      const nlohmann::json field = {{"__class__", "torchtext.data.field Field"}, {"vocab", vocabulary}};
      return nlohmann::json{{"__class__", "onmt.inputters.text_dataset TextMultiField"},
          {"fields", nlohmann::json::array({nlohmann::json::array({name, field})})}};
    };
    saved["opt"] = {{"__class__", "argparse Namespace"}, {"encoder_type", "transformer"},
        {"decoder_type", "transformer"}, {"heads", 2}, {"enc_layers", 2}, {"dec_layers", 1}, {"transformer_ff", kInner},
        {"position_encoding", true}, {"max_relative_positions", 0}, {"pos_ffn_activation_fn", "relu"},
        {"dropout", nlohmann::json::array({0.1})}};
    saved["vocab"] = shape.is_old ? nlohmann::json{{"src", torchtext("src", source)}, {"tgt", torchtext("tgt", target)}}
                                  : nlohmann::json{{"src", source}, {"tgt", target}, {"decoder_start_token", "<s>"}};
    if (!shape.is_old) saved["opt"].update({{"norm_eps", 1e-6}, {"layer_norm", "standard"}, {"num_kv", 0}});
  }

  Rng rng_{17};
};
}  // namespace goldcrest::test
