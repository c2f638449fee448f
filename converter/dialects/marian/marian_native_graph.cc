// SPDX-License-Identifier: Apache-2.0
// Reads the graph that special:model.yml describes (marian-dev at 2781d735: src/models/encoder_decoder.cpp lists its
// keys, src/models/transformer.h reads them; marian-dev 1.12 has a few more). Unknown keys are refused.
#include <algorithm>
#include <map>
#include "base/bounds.h"
#include "dialects/marian/marian_native.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Settings that must be missing or have one of these values.
const std::map<std::string, std::vector<Value>>& fixed_settings() {
  static const std::map<std::string, std::vector<Value>> kFixed = {
      {"type", {"transformer"}},
      {"transformer-decoder-autoreg", {"self-attention", "rnn"}},
      {"transformer-ffn-depth", {2}},
      {"transformer-decoder-ffn-depth", {0, 2}},
      {"transformer-no-projection", {false}},
      {"transformer-rnn-projection", {false}},
      {"transformer-pool", {false}},
      {"transformer-tied-layers", {Value::list()}},
      {"input-types", {Value::list(), Value::list({"sequence", "sequence"})}},
      {"special-vocab", {Value::list()}},
      {"right-left", {false}},
      {"ulr", {false}},
      {"lemma-dim-emb", {0}},
      {"lemma-dependency", {""}},
      {"factors-combine", {"sum"}},
      {"factors-dim-emb", {0}},
  };
  return kFixed;
}

// Settings that read_marian_graph reads.
constexpr const char* kReadByGraph[] = {"dim-vocabs", "dim-emb", "enc-depth", "dec-depth", "dec-cell",
    "layer-normalization", "output-omit-bias", "tied-embeddings", "tied-embeddings-src", "tied-embeddings-all",
    "transformer-heads", "transformer-dim-ffn", "transformer-decoder-dim-ffn", "transformer-ffn-activation",
    "transformer-preprocess", "transformer-postprocess", "transformer-postprocess-emb", "transformer-postprocess-top"};

// Settings of other graphs (recurrent ones, average attention, BERT) and of training. Also the setting of learned
// positions, which the tensors show.
constexpr const char* kWithoutEffectOnGraph[] = {"version", "skip", "dim-rnn", "enc-type", "enc-cell", "enc-cell-depth",
    "dec-cell-base-depth", "dec-cell-high-depth", "transformer-dim-aan", "transformer-aan-depth",
    "transformer-aan-activation", "transformer-aan-nogate", "transformer-depth-scaling",
    "transformer-guided-alignment-layer", "transformer-train-position-embeddings", "bert-train-type-embeddings",
    "bert-type-vocab-size", "ulr-dim-emb", "ulr-trainable-transformation"};

std::vector<std::string> known_settings() {
  std::vector<std::string> known(std::begin(kReadByGraph), std::end(kReadByGraph));
  known.insert(known.end(), std::begin(kWithoutEffectOnGraph), std::end(kWithoutEffectOnGraph));
  for (const auto& [key, values] : fixed_settings()) known.push_back(key);
  return known;
}

void check_fixed(const Config& config) {
  const std::vector<std::string> known = known_settings();
  for (const std::string& key : config.keys()) {
    const Value* const value = config.find(key);
    if (value == nullptr) continue;
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error("{} is not known, and may change the graph{}", config.where(key), guess(key, known));
    const auto fixed = fixed_settings().find(key);
    if (fixed == fixed_settings().end()) continue;
    const std::vector<Value>& values = fixed->second;
    if (std::find(values.begin(), values.end(), *value) != values.end()) continue;
    std::string expected;
    for (const Value& v : values) expected += (expected.empty() ? "" : " or ") + shown_setting(v);
    throw Error("{} is {}, expected {}: other graphs are not read", config.where(key), shown_setting(*value), expected);
  }
  config.text("type");
}

// Returns a list of operations without dropout, which belongs to training.
std::string operations(const Config& config, const char* key, const char* usual) {
  std::string text = config.text_or(key, usual);
  std::erase(text, 'd');
  return text;
}

bool is_normalized(const Config& config, const char* key, const char* usual) {
  const std::string text = operations(config, key, usual);
  if (text.empty() || text == "n") return text == "n";
  throw Error("{} is {}, expected \"n\", \"d\" or \"\": other graphs are not read", config.where(key),
      in_quotes(config.text(key)));
}

bool is_pre_norm(const Config& config) {
  const std::string before = operations(config, "transformer-preprocess", "");
  const std::string after = operations(config, "transformer-postprocess", "dan");
  if (before.empty() && after == "an") return false;
  if (before == "n" && after == "a") return true;
  throw Error("{} is {} and transformer-preprocess {}, expected \"dan\" and \"\", or \"da\" and \"n\"",
      config.where("transformer-postprocess"), in_quotes(config.text_or("transformer-postprocess", "dan")),
      in_quotes(config.text_or("transformer-preprocess", "")));
}

Activation read_activation(const Config& config) {
  const std::string name = config.text_or("transformer-ffn-activation", "swish");
  if (name == "relu") return Activation::kRelu;
  if (name == "swish") return Activation::kSilu;
  // Marian's gelu is x sigmoid(1.702 x).
  throw Error("{} is {}, expected \"relu\" or \"swish\"", config.where("transformer-ffn-activation"), in_quotes(name));
}

void check_recurrent(const Config& config) {
  if (config.text_or("dec-cell", "gru") != "ssru") {
    throw Error("{} is {}, expected \"ssru\" with transformer-decoder-autoreg \"rnn\"", config.where("dec-cell"),
        in_quotes(config.text_or("dec-cell", "gru")));
  }
  if (config.flag_or("layer-normalization", false)) {
    throw Error(
        "{} is true, expected false with transformer-decoder-autoreg \"rnn\"", config.where("layer-normalization"));
  }
}
}  // namespace

std::string shown_setting(const Value& value) {
  constexpr size_t kMost = 100;
  return write_json(value, {-1, true}).substr(0, kMost);
}

MarianGraph read_marian_graph(const Config& config) {
  check_fixed(config);
  if (const Value* vocabularies = config.find("dim-vocabs");
      vocabularies != nullptr && (!vocabularies->is_list() || vocabularies->size() != 2)) {
    throw Error("{} is {}, expected two sizes: of one source and one target", config.where("dim-vocabs"),
        shown_setting(*vocabularies));
  }
  MarianGraph graph;
  graph.d_model = config.count("dim-emb", 4, kMaxWidth);
  graph.n_heads = config.count("transformer-heads", 1, kMaxHeads);
  if (graph.d_model % graph.n_heads != 0 || graph.d_model % 2 != 0) {
    throw Error("{} is {}, expected an even multiple of transformer-heads {}", config.where("dim-emb"), graph.d_model,
        graph.n_heads);
  }
  graph.encoder_layers = config.count("enc-depth", 1, kMaxLayers);
  graph.decoder_layers = config.count("dec-depth", 1, kMaxLayers);
  graph.encoder_d_ff = config.count("transformer-dim-ffn", 1, kMaxWidth);
  const uint32_t decoder_d_ff = config.count_or("transformer-decoder-dim-ffn", 0, 0, kMaxWidth);
  graph.decoder_d_ff = decoder_d_ff == 0 ? graph.encoder_d_ff : decoder_d_ff;
  graph.activation = read_activation(config);
  graph.pre_norm = is_pre_norm(config);
  graph.embedding_norm = is_normalized(config, "transformer-postprocess-emb", "d");
  graph.final_norm = is_normalized(config, "transformer-postprocess-top", "");
  graph.is_recurrent = config.text_or("transformer-decoder-autoreg", "self-attention") == "rnn";
  if (graph.is_recurrent) check_recurrent(config);
  const bool tied_all = config.flag_or("tied-embeddings-all", false);
  graph.shared_tables = tied_all || config.flag_or("tied-embeddings-src", false);
  graph.tied_projection = tied_all || config.flag_or("tied-embeddings", false);
  graph.has_projection_bias = !config.flag_or("output-omit-bias", false);
  return graph;
}
}  // namespace goldcrest::converter
