// SPDX-License-Identifier: Apache-2.0
// T5, T5 1.1, FLAN-T5, mT5, umT5, ByT5 and MADLAD: transformers/models/{t5,mt5,umt5}/modeling_*.py at v5.23.
#include "dialects/hugging_face/t5.h"
#include <cmath>
#include <map>
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/t5_buckets.h"
#include "dialects/positions.h"
#include "dialects/tensor_reader.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr TableTensors kTables = {
    "shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight", ""};

struct T5Family {
  const char *model_type, *name, *usual_projection;
  bool may_scale_logits;    // by d_model^-0.5, unless a setting says no
  bool has_bias_per_layer;  // else the first layer's is all layers'
};
constexpr T5Family kT5Families[] = {{"t5", "T5", "relu", true, false}, {"mt5", "mT5", "gated-gelu", false, false},
    {"umt5", "umT5", "gated-gelu", true, true}};

struct Graph {
  const T5Family* family;
  uint32_t vocab_size, d_model, d_ff, n_heads, d_head, encoder_layers, decoder_layers;
  uint32_t max_positions;
  DistanceBuckets buckets;  // the encoder's
  Activation activation;
  bool gated, scales_logits;
  float epsilon;

  uint32_t attention_width() const { return n_heads * d_head; }
  uint32_t n_layers(bool is_decoder) const { return is_decoder ? decoder_layers : encoder_layers; }
  // Returns whether a layer has a bias of its own; the others use that of their stack's first layer.
  bool has_bias(uint32_t layer) const { return layer == 0 || family->has_bias_per_layer; }
};

const char* stack_name(bool is_decoder) { return is_decoder ? "decoder" : "encoder"; }

const T5Family& family_of(const Config& config) {
  const std::string type = config.text_or("model_type", "");
  for (const T5Family& family : kT5Families)
    if (type == family.model_type) return family;
  throw Error("{} is {}, expected \"t5\", \"mt5\" or \"umt5\"", config.where("model_type"), in_quotes(type));
}

// Settings that a T5 of transformers has only with one value, or that repeat another setting.
void check_fixed_settings(const Config& config, const std::string& projection, bool gated) {
  const auto check_flag = [&](const char* key, bool expected, const std::string& why) {
    if (config.flag_or(key, expected) != expected)
      throw Error("{} is {}, expected {}: {}", config.where(key), !expected, expected, why);
  };
  check_flag("is_encoder_decoder", true, "Goldcrest runs encoder-decoder models");
  check_flag("tie_encoder_decoder", false, "the layers of encoder and decoder have weights of their own");
  check_flag("is_gated_act", gated, "feed_forward_proj is " + in_quotes(projection));
}

void read_feed_forward(const Config& config, Graph& graph) {
  static const std::map<std::string, std::pair<Activation, const char*>> kNames = {
      {"relu", {Activation::kRelu, "relu"}}, {"gelu", {Activation::kGelu, "gelu"}},
      {"gelu_new", {Activation::kGeluTanh, "gelu_new"}}, {"silu", {Activation::kSilu, "silu"}},
      {"gated-relu", {Activation::kRelu, "relu"}}, {"gated-gelu", {Activation::kGeluTanh, "gelu_new"}},
      {"gated-gelu_new", {Activation::kGeluTanh, "gelu_new"}}, {"gated-silu", {Activation::kSilu, "silu"}}};
  const std::string projection = config.text_or("feed_forward_proj", graph.family->usual_projection);
  const auto found = kNames.find(projection);
  if (found == kNames.end()) {
    throw Error("{} is {}, expected relu, gelu, gelu_new or silu, also with \"gated-\" before it",
        config.where("feed_forward_proj"), in_quotes(projection));
  }
  graph.activation = found->second.first;
  graph.gated = projection.starts_with("gated-");
  const std::string function = config.text_or("dense_act_fn", found->second.second);
  if (function != found->second.second) {
    throw Error("{} is {}, expected {}: feed_forward_proj is {}", config.where("dense_act_fn"), in_quotes(function),
        in_quotes(found->second.second), in_quotes(projection));
  }
  check_fixed_settings(config, projection, graph.gated);
}

void read_buckets(const Config& config, Graph& graph) {
  graph.buckets.n = config.count_or("relative_attention_num_buckets", 32, 4, kMaxBuckets);
  // A stack with half of the exact buckets has distances beyond them too.
  const uint32_t least = graph.buckets.n / 2 + 1;
  graph.buckets.max_distance = config.count_or("relative_attention_max_distance", 128, least, kMaxPositions);
  graph.buckets.both_directions = true;
}

Graph graph_of(const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config;
  Graph graph = {};
  graph.family = &family_of(config);
  const std::vector<std::string> counts = {"vocab_size", "d_model", "d_kv", "d_ff", "num_layers", "num_heads"};
  std::vector<std::string> known = counts;
  known.insert(known.end(), {"num_decoder_layers", "relative_attention_num_buckets", "relative_attention_max_distance",
                                "feed_forward_proj", "layer_norm_epsilon", "tie_word_embeddings"});
  RequiredSettings required(config, known);
  for (const std::string& key : counts) required.require(key, "an integer");
  required.check();
  graph.vocab_size = config.count("vocab_size", 1, kMaxVocabulary);
  graph.d_model = config.count("d_model", 1, kMaxWidth);
  graph.d_head = config.count("d_kv", 1, kMaxHeadWidth);
  graph.d_ff = config.count("d_ff", 1, kMaxWidth);
  graph.n_heads = config.count("num_heads", 1, kMaxHeads);
  graph.encoder_layers = config.count("num_layers", 1, kMaxLayers);
  graph.decoder_layers = config.count_or("num_decoder_layers", graph.encoder_layers, 1, kMaxLayers);
  graph.epsilon = static_cast<float>(config.number_or("layer_norm_epsilon", 1e-6, kMinEpsilon, kMaxEpsilon));
  read_feed_forward(config, graph);
  read_buckets(config, graph);
  const uint32_t usual_positions =
      std::max(config.count_or("n_positions", reads_bytes(checkpoint) ? 1024 : 512, 1, kMaxPositions),
          chronos_positions(config));
  graph.max_positions = checkpoint.choices.max_positions != 0 ? checkpoint.choices.max_positions : usual_positions;
  check_position_rows(checkpoint.choices.max_positions != 0 ? "--max-positions" : config.where("n_positions"),
      2 * uint64_t{graph.max_positions}, graph.n_heads);
  const bool scales = config.flag_or("tie_word_embeddings", true);
  graph.scales_logits = graph.family->may_scale_logits && config.flag_or("scale_decoder_outputs", scales);
  return graph;
}

class T5Reader {
 public:
  T5Reader(const Graph& graph, TensorReader& tensors, ModelSpec& spec)
      : graph_(graph), tensors_(tensors), spec_(spec) {}

  void read() {
    // A projection of its own is used wherever it is stored. transformers 5 writes that it is tied in any case.
    const bool tied = tensors_.lists() ? graph_.scales_logits : !tensors_.has(kTables.head);
    read_tables(kTables, {true, tied, graph_.vocab_size, graph_.vocab_size, graph_.d_model}, tensors_, spec_);
    read_stack(false, spec_.encoder);
    read_stack(true, spec_.decoder);
    tensors_.check_missing();
    if (graph_.scales_logits) {
      const float factor = static_cast<float>(1 / std::sqrt(static_cast<double>(graph_.d_model)));
      for (float& gamma : spec_.decoder.final_norm->gamma) gamma *= factor;
    }
    std::vector<std::string> unused = tensors_.unused();
    // Old checkpoints store this tensor, and no code reads it.
    std::erase(unused, "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }
 private:
  LinearSpec linear(const std::string& name, uint32_t outputs, uint32_t inputs) {
    return tensors_.linear(name, outputs, inputs, false);
  }
  NormSpec norm(const std::string& name) { return tensors_.norm(name, graph_.d_model, false, graph_.epsilon); }

  void read_stack(bool is_decoder, StackSpec& stack) {
    const std::string name = stack_name(is_decoder);
    stack.d_model = graph_.d_model;
    stack.d_ff = graph_.d_ff;
    stack.n_heads = graph_.n_heads;
    stack.d_head = graph_.d_head;
    stack.activation = graph_.activation;
    stack.pre_norm = true;
    stack.centred = false;
    stack.gated = graph_.gated;
    stack.positions_used = false;
    stack.positions = {"", graph_.max_positions, graph_.d_model, std::vector<float>(graph_.d_model), true};
    stack.final_norm = norm(name + ".final_layer_norm");
    for (uint32_t i = 0; i < graph_.n_layers(is_decoder); ++i) {
      const std::string prefix = format_text("{}.block.{}", name, i);
      LayerSpec layer = read_layer(prefix, is_decoder);
      layer.self_attention->bias =
          graph_.has_bias(i) ? read_bias(prefix, is_decoder) : stack.layers[0].self_attention->bias;
      stack.layers.push_back(std::move(layer));
    }
  }

  LayerSpec read_layer(const std::string& prefix, bool is_decoder) {
    LayerSpec layer;
    layer.self_attention = read_attention(prefix + ".layer.0", ".SelfAttention");
    if (is_decoder) layer.cross_attention = read_attention(prefix + ".layer.1", ".EncDecAttention");
    const std::string last = prefix + (is_decoder ? ".layer.2" : ".layer.1"), dense = last + ".DenseReluDense.";
    layer.feed_forward = {linear(dense + (graph_.gated ? "wi_1" : "wi"), graph_.d_ff, graph_.d_model),
        linear(dense + "wo", graph_.d_model, graph_.d_ff), norm(last + ".layer_norm")};
    if (graph_.gated) layer.feed_forward.in.gate = linear(dense + "wi_0", graph_.d_ff, graph_.d_model);
    return layer;
  }

  AttentionSpec read_attention(const std::string& prefix, const char* name) {
    const uint32_t width = graph_.attention_width();
    AttentionSpec attention;
    attention.query = linear(prefix + name + ".q", width, graph_.d_model);
    attention.key = linear(prefix + name + ".k", width, graph_.d_model);
    attention.value = linear(prefix + name + ".v", width, graph_.d_model);
    attention.out = linear(prefix + name + ".o", graph_.d_model, width);
    attention.norm = norm(prefix + ".layer_norm");
    return attention;
  }

  // Writes out the bias of each distance from the one of its bucket.
  std::shared_ptr<const AttentionBiasSpec> read_bias(const std::string& prefix, bool is_decoder) {
    DistanceBuckets buckets = graph_.buckets;
    buckets.both_directions = !is_decoder;
    AttentionBiasSpec bias;
    bias.name = prefix + ".layer.0.SelfAttention.relative_attention_bias.weight";
    bias.before = graph_.max_positions - 1;
    bias.after = is_decoder ? 0 : bias.before;
    const auto stored = tensors_.matrix(bias.name, buckets.n, graph_.n_heads);
    if (stored->values.size() == 0) return std::make_shared<AttentionBiasSpec>(bias);  // missing
    const std::vector<uint32_t> bucket_of = distance_buckets(buckets, bias.before, bias.after);
    for (uint32_t head = 0; head < graph_.n_heads; ++head)
      for (const uint32_t bucket : bucket_of) bias.values.push_back(stored->row(bucket)[head]);
    return std::make_shared<AttentionBiasSpec>(std::move(bias));
  }

  const Graph& graph_;
  TensorReader& tensors_;
  ModelSpec& spec_;
};

// The tensors of a checkpoint as transformers 5 saves it. config.json does not say whether the projection has a table
// of its own. Models whose logits are not scaled do, so they get one here.
std::vector<ShapedTensor> t5_tensors(const Config& config) {
  const Graph graph = graph_of({config.path().parent_path(), config, nullptr, true});
  ModelSpec spec;
  TensorReader lister;
  T5Reader(graph, lister, spec).read();
  return lister.listed();
}

ModelSpec load_t5(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Graph graph = graph_of(checkpoint);
  const Config generation = side_config(checkpoint, "generation_config.json");
  std::error_code error;
  const bool has_generation = std::filesystem::exists(side_file(checkpoint, "generation_config.json"), error);
  spec.generation = hugging_face_generation(generation, checkpoint.config,
      {graph.vocab_size, graph.max_positions, has_generation, std::nullopt, 0}, spec.warnings);
  // The tensors first: a vocabulary takes as much memory as its setting says, which the tensors bear out.
  TensorReader tensors(checkpoint.tensors);
  T5Reader(graph, tensors, spec).read();
  read_t5_text(checkpoint, graph.vocab_size, spec);
  return spec;
}

// families.cc lists them, next to their relatives.
constexpr ConfigFamily t5_config_family(const char* model_type, const char* description) {
  return {model_type, description, load_t5, t5_tensors, nullptr, nullptr, {nullptr, nullptr}, true};
}
}  // namespace

const ConfigFamily kT5Family = t5_config_family("t5", "T5, FLAN-T5, ByT5, MADLAD"),
                   kMT5Family = t5_config_family("mt5", "mT5"), kUmT5Family = t5_config_family("umt5", "umT5");
}  // namespace goldcrest::converter
