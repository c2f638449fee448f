// SPDX-License-Identifier: Apache-2.0
// Hugging Face Marian, which is also OPUS-MT: config.json, generation_config.json, vocab.json, source.spm, target.spm
// and the tensors of MarianMTModel (transformers/models/marian/modeling_marian.py at v5.2; older versions also had
// learned positions, pre-norm, embedding norms and final norms).
#include "dialects/hugging_face/marian.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bounds.h"
#include "dialects/positions.h"
#include "dialects/required_settings.h"
#include "dialects/settings/generation.h"
#include "dialects/tensor_reader.h"
#include "sources/messages/messages.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr const char* kShared = "model.shared.weight";
constexpr const char* kEncoder = "model.encoder.embed_tokens.weight";
constexpr const char* kDecoder = "model.decoder.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

constexpr float kNormEpsilon = 1e-5f;  // torch.nn.LayerNorm's default, which MarianMTModel uses

struct MarianConfig {
  uint32_t source_vocab_size, target_vocab_size, d_model, max_positions;
  Activation activation;
  bool shared_embeddings, tied_projection, scale_embedding, static_positions;
  bool pre_norm, embedding_norm, final_norm;
};

Activation read_activation(const Config& config) {
  static const std::map<std::string, Activation> kNames = {
      {"relu", Activation::kRelu},          {"gelu", Activation::kGelu},
      {"gelu_python", Activation::kGelu},   {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh}, {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"swish", Activation::kSilu},         {"silu", Activation::kSilu}};
  const std::string name = config.text("activation_function");
  const auto found = kNames.find(name);
  if (found == kNames.end()) {
    throw Error("{} is {}, expected relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish",
                config.where("activation_function"), in_quotes(name));
  }
  return found->second;
}

MarianConfig read_config(const Config& config) {
  MarianConfig result{};
  result.source_vocab_size = config.count("vocab_size", 1, kMaxVocabulary);
  result.shared_embeddings = config.flag_or("share_encoder_decoder_embeddings", true);
  result.target_vocab_size = result.shared_embeddings
                                 ? result.source_vocab_size
                                 : config.count_or("decoder_vocab_size", result.source_vocab_size, 1, kMaxVocabulary);
  result.d_model = config.count("d_model", 2, kMaxWidth);
  result.max_positions = config.count_or("max_position_embeddings", 1024, 1, kMaxPositions);
  check_position_rows(config.where("max_position_embeddings"), result.max_positions, result.d_model);
  result.activation = read_activation(config);
  result.tied_projection = config.flag_or("tie_word_embeddings", true);
  result.scale_embedding = config.flag_or("scale_embedding", false);
  result.static_positions = config.flag_or("static_position_embeddings", true);
  result.pre_norm = config.flag_or("normalize_before", false);
  result.embedding_norm = config.flag_or("normalize_embedding", false);
  result.final_norm = config.flag_or("add_final_layer_norm", false);
  return result;
}

class MarianReader {
 public:
  MarianReader(const Checkpoint& checkpoint, ModelSpec& spec)
      : config_(checkpoint.config),
        settings_(read_config(checkpoint.config)),
        tensors_(checkpoint.tensors),
        spec_(spec) {}

  const MarianConfig& settings() const { return settings_; }

  void read() {
    read_tables();
    read_stack("encoder", spec_.encoder);
    read_stack("decoder", spec_.decoder);
    tensors_.check_missing();
    const std::vector<std::string> unused = tensors_.unused();
    if (!unused.empty())
      spec_.warnings.push_back(fmt::format("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }

 private:
  // The table under the first of `names` that is there; without any, `names[0]` is missing.
  std::shared_ptr<const Matrix> first_table(const std::vector<std::string>& names, uint32_t rows) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return tensors_.has(name); });
    return tensors_.matrix(found == names.end() ? names[0] : *found, rows, settings_.d_model);
  }

  // As transformers 5 loads them: a table of a place's own stays its own, also where config.json ties it; else the
  // place takes the table that it is tied to.
  void read_tables() {
    const bool shared = settings_.shared_embeddings, tied = settings_.tied_projection;
    std::vector<std::string> tie;  // the places of one table, in the order in which one fills the others
    if (shared) tie.push_back(kShared);
    if (shared && tied) tie.insert(tie.end(), {kHead, kDecoder, kEncoder});
    if (!shared && tied) tie = {kDecoder, kHead};
    const auto table = [&](const char* own, uint32_t rows) {
      std::vector<std::string> names = tie;
      if (tensors_.has(own) || tie.empty()) names.insert(names.begin(), own);
      return first_table(names, rows);
    };
    const uint32_t rows = settings_.target_vocab_size;
    spec_.encoder.embedding = shared ? table(kEncoder, rows) : first_table({kEncoder}, settings_.source_vocab_size);
    spec_.decoder.embedding = tensors_.share_if_equal(spec_.encoder.embedding, table(kDecoder, rows));
    const auto head = tied ? table(kHead, rows) : first_table({kHead}, rows);
    spec_.projection.weight =
        tensors_.share_if_equal(spec_.encoder.embedding, tensors_.share_if_equal(spec_.decoder.embedding, head));
    warn_of_tables(tied ? tie : std::vector<std::string>{});
    spec_.projection.bias = tensors_.has("final_logits_bias")
                                ? tensors_.vector("final_logits_bias", settings_.target_vocab_size)
                                : std::vector<float>(settings_.target_vocab_size, 0.0f);
  }

  // `tied`: the tensors that config.json ties, of which one would do.
  void warn_of_tables(const std::vector<std::string>& tied) {
    std::shared_ptr<const Matrix> first;
    for (const std::string& name : tied) {
      if (!tensors_.has(name)) continue;
      const auto table = tensors_.matrix(name, settings_.target_vocab_size, settings_.d_model);
      if (!first) first = table;
      if (tensors_.share_if_equal(first, table) == first) continue;
      spec_.warnings.push_back(
          fmt::format("{} differs from {}, although config.json ties them; each is used in its own place, as "
                      "transformers 5 does and 4 did not",
                      tensors_.describe(name), in_quotes(first->name)));
    }
    const bool is_unused = tied.empty() && settings_.shared_embeddings && tensors_.has(kShared) &&
                           tensors_.has(kEncoder) && tensors_.has(kDecoder);
    if (!is_unused) return;
    const auto shared = tensors_.matrix(kShared, settings_.target_vocab_size, settings_.d_model);
    if (tensors_.share_if_equal(spec_.encoder.embedding, shared) != shared) return;
    spec_.warnings.push_back(fmt::format(
        "{} is not used: the encoder and the decoder have tables of their own, as transformers 5 saves them where "
        "\"tie_word_embeddings\" is false",
        tensors_.describe(kShared)));
  }

  NormSpec norm(const std::string& prefix) { return tensors_.norm(prefix, settings_.d_model, true, kNormEpsilon); }

  AttentionSpec attention(const std::string& prefix) {
    const auto projection = [&](const char* name) {
      return tensors_.linear(prefix + name, settings_.d_model, settings_.d_model, true);
    };
    return {projection(".q_proj"), projection(".k_proj"), projection(".v_proj"), projection(".out_proj"),
            norm(prefix + "_layer_norm")};
  }

  void read_stack(const std::string& name, StackSpec& stack) {
    stack.d_model = settings_.d_model;
    stack.d_ff = config_.count(name + "_ffn_dim", 1, kMaxWidth);
    stack.n_heads = config_.count(name + "_attention_heads", 1, kMaxHeads);
    if (stack.d_model % stack.n_heads != 0) {
      throw Error("{} is {}, expected a divisor of d_model {}", config_.where(name + "_attention_heads"), stack.n_heads,
                  stack.d_model);
    }
    stack.d_head = stack.d_model / stack.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
    stack.activation = settings_.activation;
    stack.pre_norm = settings_.pre_norm;
    stack.embedding_scale =
        settings_.scale_embedding ? static_cast<float>(std::sqrt(static_cast<double>(stack.d_model))) : 1.0f;
    stack.positions = positions(name);
    const std::string prefix = "model." + name;
    if (settings_.embedding_norm) stack.embedding_norm = norm(prefix + ".layernorm_embedding");
    if (settings_.final_norm) stack.final_norm = norm(prefix + ".layer_norm");
    const uint32_t n_layers = config_.count(name + "_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < n_layers; ++i)
      stack.layers.push_back(layer(fmt::format("{}.layers.{}", prefix, i), stack.d_ff, name == "decoder"));
  }

  LayerSpec layer(const std::string& prefix, uint32_t d_ff, bool is_decoder) {
    LayerSpec layer;
    layer.self_attention = attention(prefix + ".self_attn");
    if (is_decoder) layer.cross_attention = attention(prefix + ".encoder_attn");
    layer.feed_forward = {tensors_.linear(prefix + ".fc1", d_ff, settings_.d_model, true),
                          tensors_.linear(prefix + ".fc2", settings_.d_model, d_ff, true),
                          norm(prefix + ".final_layer_norm")};
    return layer;
  }

  // Static positions that are not stored are computed. transformers uses a table that is, so a half-precision one too;
  // one of other values is worth a word.
  Matrix positions(const std::string& stack) {
    constexpr float kTolerance = 2e-3f;  // a table in half precision is up to 5e-4 away
    const std::string name = "model." + stack + ".embed_positions.weight";
    if (!settings_.static_positions) return *tensors_.matrix(name, settings_.max_positions, settings_.d_model);
    if (settings_.d_model % 2 != 0)
      throw Error("{} is {}, expected an even number", config_.where("d_model"), settings_.d_model);
    Matrix computed = sinusoid_table({}, settings_.max_positions, settings_.d_model);
    if (!tensors_.has(name)) return computed;
    const auto stored = tensors_.matrix(name, settings_.max_positions, settings_.d_model);
    const float difference = largest_difference(*stored, computed);
    if (difference > kTolerance) {
      spec_.warnings.push_back(
          fmt::format("{} is not the table of sinusoids that Marian models have (differs by up to {:.3g}); "
                      "the stored table is used",
                      tensors_.describe(name), difference));
    }
    return *stored;
  }

  const Config& config_;
  MarianConfig settings_;
  TensorReader tensors_;
  ModelSpec& spec_;
};

}  // namespace

void check_marian_settings(const Config& config, const Config& generation) {
  constexpr const char* kInteger = "an integer";
  std::vector<std::string> counts = {"vocab_size", "d_model"};
  for (const std::string stack : {"encoder_", "decoder_"})
    for (const char* key : {"layers", "attention_heads", "ffn_dim"}) counts.push_back(stack + key);
  std::vector<std::string> known = counts;
  known.insert(known.end(),
               {"activation_function", "bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id"});
  RequiredSettings required(config, known);
  for (const std::string& key : counts) required.require(key, kInteger);
  required.require("activation_function", "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish");
  if (!generation.has("eos_token_id")) required.require("eos_token_id", "a token id");
  if (!generation.has("decoder_start_token_id") && !generation.has("pad_token_id") && !config.has("pad_token_id")) {
    required.require("decoder_start_token_id", "a token id");
  }
  required.check();
}

std::filesystem::path marian_side_file(const Checkpoint& checkpoint, const char* name) {
  std::error_code error;
  const std::filesystem::path beside_config = checkpoint.config.path().parent_path() / name;
  const bool is_there =
      !std::filesystem::exists(checkpoint.directory / name, error) && std::filesystem::exists(beside_config, error);
  return is_there ? beside_config : checkpoint.directory / name;
}

Config optional_marian_config(const Checkpoint& checkpoint, const char* name) {
  const std::filesystem::path path = marian_side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Config(nlohmann::json::object(), path.string(), path);
  return Config(path);
}

namespace {

ModelSpec load_marian(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const std::filesystem::path generation_file = marian_side_file(checkpoint, "generation_config.json");
  const Config generation = optional_marian_config(checkpoint, "generation_config.json");
  check_marian_settings(checkpoint.config, generation);
  MarianReader reader(checkpoint, spec);
  const MarianConfig& settings = reader.settings();
  std::error_code error;
  spec.generation = hugging_face_generation(
      generation, checkpoint.config,
      {settings.target_vocab_size, settings.max_positions, std::filesystem::exists(generation_file, error)},
      spec.warnings);
  reader.read();  // first: a vocabulary takes as much memory as its setting says, which the tensors bear out
  read_marian_text(checkpoint, settings.source_vocab_size, settings.target_vocab_size, spec);
  return spec;
}

}  // namespace

const ConfigFamily kMarianFamily = {
    "marian",
    "Hugging Face Marian, OPUS-MT",
    load_marian,
    marian_tensors,
    nullptr,
    nullptr,
    {"OPUS-MT and other Marian models of Hugging Face", "safetensors (also sharded), `pytorch_model.bin`"}};

}  // namespace goldcrest::converter
