// SPDX-License-Identifier: Apache-2.0
// The tensors of an nn.Transformer checkpoint with this config.json.
#include <algorithm>
#include "base/bounds.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/positions.h"
#include "dialects/text/vocabulary_file.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
class ShapeReader {
 public:
  explicit ShapeReader(const Config& config) : config_(config), names_(config.object_or_empty("tensors")) {}

  std::vector<ShapedTensor> read() {
    check_settings();
    const uint64_t source_width = width("encoder"), target_width = width("decoder");
    const uint64_t source = vocabulary("source"), target = shared() ? source : vocabulary("target");
    add(names_.text("source_embedding"), {source, source_width});
    if (!shared()) add(names_.text("target_embedding"), {target, target_width});
    read_stack("encoder", source_width, source_width);
    read_stack("decoder", target_width, source_width);
    if (!config_.flag_or("tied_output_projection", false)) {
      const std::string name = names_.text("output_projection");
      add(name.ends_with(".weight") ? name : name + ".weight", {target, target_width});
    }
    if (names_.has("output_bias")) add(names_.text("output_bias"), {target});
    return std::move(tensors_);
  }
 private:
  // Checks the settings that a conversion needs, and those that it would take from the tensors.
  void check_settings() const {
    RequiredSettings required(config_, nn_transformer_settings());
    require_nn_transformer_settings(config_, required);
    for (const std::string stack : {"encoder", "decoder"}) {
      for (const char* key : {"d_model", "dim_feedforward", "max_positions"})
        if (!config_.has(side_key(config_, stack, key))) required.missing(key, "an integer");
      required.require("num_" + stack + "_layers", "an integer");
    }
    for (const std::string side : {"source", "target"}) {
      const bool is_shared = side == "target" && shared();
      if (!is_shared && config_.find(side + "_vocabulary") == nullptr)
        required.require(side + "_vocab_size", "an integer");
    }
    required.check();
  }

  void add(const std::string& name, std::vector<uint64_t> shape) { tensors_.push_back({name, std::move(shape)}); }

  bool shared() const { return config_.flag_or("shared_embeddings", false); }

  uint64_t width(const std::string& stack) const {
    return config_.count(side_key(config_, stack, "d_model"), 1, kMaxWidth);
  }

  // Returns the entries of a side: the setting, or the length of its list.
  uint64_t vocabulary(const std::string& side) const {
    const std::string key = side + "_vocab_size", list_key = side + "_vocabulary";
    const Value* list = config_.find(list_key);
    if (config_.has(key) || list == nullptr) return config_.count(key, 1, kMaxVocabulary);
    return list->is_text() ? count_entries(config_.file(list_key)) : list->size();
  }

  void read_stack(const std::string& name, uint64_t d_model, uint64_t key_width) {
    const std::string prefix =
        names_.has(name) ? module_prefix(names_, name) : module_prefix(names_, "transformer") + name + ".";
    const uint64_t d_ff = config_.count(side_key(config_, name, "dim_feedforward"), 1, kMaxWidth);
    const uint32_t layers = config_.count("num_" + name + "_layers", 1, kMaxLayers);
    const bool is_decoder = name == "decoder";
    const uint64_t keys = head_rows(name, "d_k", d_model), values = head_rows(name, "d_v", d_model);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string layer = format_text("{}layers.{}.", prefix, i);
      add_attention(layer + "self_attn.", {d_model, d_model, keys, values});
      if (is_decoder) add_attention(layer + "multihead_attn.", {d_model, key_width, keys, values});
      add(layer + "linear1.weight", {d_ff, d_model});
      add(layer + "linear2.weight", {d_model, d_ff});
      for (const char* norm : {"norm1.weight", "norm2.weight", "norm3.weight"})
        if (is_decoder || norm != std::string("norm3.weight")) add(layer + norm, {d_model});
    }
    if (config_.flag_or(side_key(config_, name, "final_norm"), true)) add(prefix + "norm.weight", {d_model});
    const char* const embedding_norm = is_decoder ? "target_embedding_norm" : "source_embedding_norm";
    if (names_.has(embedding_norm)) add(module_prefix(names_, embedding_norm) + "weight", {d_model});
    add_positions(name, d_model);
  }

  // Returns the rows of all heads: nhead times the setting, or d_model.
  uint64_t head_rows(const std::string& stack, const char* setting, uint64_t d_model) const {
    const auto width = config_.optional_count(side_key(config_, stack, setting), 1, kMaxHeadWidth);
    return width ? uint64_t{*width} * config_.count(side_key(config_, stack, "nhead"), 1, kMaxHeads) : d_model;
  }

  struct AttentionShape {
    uint64_t d_model, memory_width, keys, values;  // keys, values: rows of all heads
  };

  void add_attention(const std::string& prefix, const AttentionShape& shape) {
    if (shape.memory_width == shape.d_model) {
      add(prefix + "in_proj_weight", {2 * shape.keys + shape.values, shape.d_model});
    } else {
      add(prefix + "q_proj_weight", {shape.keys, shape.d_model});
      add(prefix + "k_proj_weight", {shape.keys, shape.memory_width});
      add(prefix + "v_proj_weight", {shape.values, shape.memory_width});
    }
    add(prefix + "out_proj.weight", {shape.d_model, shape.values});
  }

  void add_positions(const std::string& stack, uint64_t d_model) {
    const std::string encoding = config_.text(side_key(config_, stack, "position_encoding"));
    if (encoding != "learned" && encoding != "stored") return;
    const std::string role = stack == "encoder" ? "source_positions" : "target_positions";
    const std::string key = side_key(config_, stack, "max_positions");
    const uint64_t rows = config_.count(key, 1, kMaxPositions);
    check_position_rows(config_.where(key), rows, static_cast<uint32_t>(d_model));
    const uint32_t offset = config_.count_or(side_key(config_, stack, "position_offset"), 0, 0, kMaxPositions);
    add(names_.has(role) ? names_.text(role) : names_.text("positions"), {rows + offset, d_model});
  }

  const Config& config_;
  const Config names_;
  std::vector<ShapedTensor> tensors_;
};
}  // namespace

std::vector<ShapedTensor> nn_transformer_tensors(const Config& config) { return ShapeReader(config).read(); }

void name_nn_transformer_tensors(Value& config) {
  Value& names = config["tensors"];
  if (names.is_null()) names = Value::map();
  if (!names.is_map()) return;  // reading it throws later
  const auto is_set = [&](const char* key) { return config.contains(key) && config[key] == true; };
  const auto name = [&](const char* key, const char* usual) {
    if (!names.contains(key)) names[key] = usual;
  };
  name("source_embedding", "source_embedding.weight");
  if (!is_set("shared_embeddings")) name("target_embedding", "target_embedding.weight");
  if (!is_set("tied_output_projection")) name("output_projection", "output_projection");
  name("transformer", "transformer.");
  if (!names.contains("positions")) {
    for (const char* side : {"source", "target"}) {
      const std::string stack = side == std::string("source") ? "encoder" : "decoder";
      const std::string key = config.contains(stack + "_position_encoding") ? stack + "_position_encoding"
                                                                            : std::string("position_encoding");
      const bool is_table = config.contains(key) && (config[key] == "learned" || config[key] == "stored");
      const std::string role = std::string(side) + "_positions";
      if (is_table) name(role.c_str(), (role + ".weight").c_str());
    }
  }
}
}  // namespace goldcrest::converter
