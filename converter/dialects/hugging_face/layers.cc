// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/layers.h"
#include <algorithm>
#include <map>
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Follow the layer's prefix; the projections and the norm follow the attention's name.
constexpr const char *kSelfAttention = ".self_attn", *kCrossAttention = ".encoder_attn";
constexpr const char *kQuery = ".q_proj", *kKey = ".k_proj", *kValue = ".v_proj", *kOut = ".out_proj";
constexpr const char* kAttentionNorm = "_layer_norm";
constexpr const char *kInner = ".fc1", *kOuter = ".fc2", *kLastNorm = ".final_layer_norm";

uint32_t source_width(const LayerShape& shape, const std::string& attention) {
  return shape.source_width != 0 && attention.ends_with(kCrossAttention) ? shape.source_width : shape.d_model;
}

AttentionSpec read_attention(const std::string& prefix, const LayerShape& shape, TensorReader& tensors) {
  const auto projection = [&](const char* name, bool has_bias = true) {
    const bool reads_source = name == kKey || name == kValue;
    const uint32_t inputs = reads_source ? source_width(shape, prefix) : shape.d_model;
    return tensors.linear(prefix + name, shape.d_model, inputs, has_bias);
  };
  return {projection(kQuery), projection(kKey, shape.has_key_bias), projection(kValue), projection(kOut),
      tensors.norm(prefix + kAttentionNorm, shape.d_model, true, shape.norm_epsilon)};
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

Activation read_activation(const Config& config, const char* key) {
  static const std::map<std::string, Activation> kNames = {{"relu", Activation::kRelu}, {"gelu", Activation::kGelu},
      {"gelu_python", Activation::kGelu}, {"gelu_new", Activation::kGeluTanh}, {"gelu_fast", Activation::kGeluTanh},
      {"gelu_pytorch_tanh", Activation::kGeluTanh}, {"swish", Activation::kSilu}, {"silu", Activation::kSilu}};
  const std::string name = config.text(key);
  const auto found = kNames.find(name);
  if (found == kNames.end()) throw Error("{} is {}, expected {}", config.where(key), in_quotes(name), kActivationNames);
  return found->second;
}

namespace {
class TablesReader {
 public:
  TablesReader(const TableTensors& names, const TableSettings& settings, TensorReader& tensors, ModelSpec& spec)
      : names_(names), settings_(settings), tensors_(tensors), spec_(spec) {}

  void read() {
    const bool shared = settings_.shared, tied = settings_.tied;
    std::vector<std::string> tie;  // the places of one table; an earlier one fills the later ones
    if (shared) tie.push_back(names_.shared);
    if (shared && tied) tie.insert(tie.end(), {names_.head, names_.decoder, names_.encoder});
    if (!shared && tied) tie = {names_.decoder, names_.head};
    const auto table = [&](const char* own, uint32_t rows) {
      std::vector<std::string> names = tie;
      if (tensors_.has(own) || tie.empty()) names.insert(names.begin(), own);
      return first_table(names, rows);
    };
    const uint32_t rows = settings_.target_rows;
    spec_.encoder.embedding =
        shared ? table(names_.encoder, rows) : first_table({names_.encoder}, settings_.source_rows);
    spec_.decoder.embedding = tensors_.share_if_equal(spec_.encoder.embedding, table(names_.decoder, rows));
    const auto head = tied ? table(names_.head, rows) : first_table({names_.head}, rows);
    spec_.projection.weight =
        tensors_.share_if_equal(spec_.encoder.embedding, tensors_.share_if_equal(spec_.decoder.embedding, head));
    warn_of_ties(tied ? tie : std::vector<std::string>{});
    spec_.projection.bias =
        tensors_.has(names_.head_bias) ? tensors_.vector(names_.head_bias, rows) : std::vector<float>(rows, 0.0f);
  }
 private:
  // Returns the table under the first of `names` that exists; if none does, `names[0]` counts as missing.
  std::shared_ptr<const Matrix> first_table(const std::vector<std::string>& names, uint32_t rows) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return tensors_.has(name); });
    return tensors_.matrix(found == names.end() ? names[0] : *found, rows, settings_.d_model);
  }

  // `tied`: the tensors that config.json ties, so that one would be enough.
  void warn_of_ties(const std::vector<std::string>& tied) {
    std::shared_ptr<const Matrix> first;
    for (const std::string& name : tied) {
      if (!tensors_.has(name)) continue;
      const auto table = tensors_.matrix(name, settings_.target_rows, settings_.d_model);
      if (!first) first = table;
      if (tensors_.share_if_equal(first, table) == first) continue;
      spec_.warnings.push_back(
          format_text("{} differs from {}, although config.json ties them; each is used in its own place, as "
                      "transformers 5 does and 4 did not",
              tensors_.describe(name), in_quotes(first->name)));
    }
    const bool is_unused = tied.empty() && settings_.shared && tensors_.has(names_.shared) &&
                           tensors_.has(names_.encoder) && tensors_.has(names_.decoder);
    if (!is_unused) return;
    const auto shared = tensors_.matrix(names_.shared, settings_.target_rows, settings_.d_model);
    if (spec_.encoder.embedding == shared || tensors_.share_if_equal(spec_.encoder.embedding, shared) != shared) return;
    spec_.warnings.push_back(format_text(
        "{} is not used: the encoder and the decoder have tables of their own, as transformers 5 saves them if "
        "\"tie_word_embeddings\" is false",
        tensors_.describe(names_.shared)));
  }

  const TableTensors& names_;
  const TableSettings& settings_;
  TensorReader& tensors_;
  ModelSpec& spec_;
};
}  // namespace

void read_tables(const TableTensors& names, const TableSettings& settings, TensorReader& tensors, ModelSpec& spec) {
  TablesReader(names, settings, tensors, spec).read();
}
}  // namespace goldcrest::converter
