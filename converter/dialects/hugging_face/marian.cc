// SPDX-License-Identifier: Apache-2.0
// Hugging Face Marian, which is also OPUS-MT: config.json, generation_config.json, vocab.json, source.spm, target.spm
// and the tensors of MarianMTModel (transformers/models/marian/modeling_marian.py at v5.2; older versions also had
// learned positions, pre-norm, embedding norms and final norms).
#include "dialects/hugging_face/marian.h"

#include <cmath>

#include "base/bounds.h"
#include "dialects/hugging_face/activations.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/positions.h"
#include "dialects/required_settings.h"
#include "dialects/tensor_reader.h"
#include "sources/messages/messages.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr float kNormEpsilon = 1e-5f;  // torch.nn.LayerNorm's default, which MarianMTModel uses
constexpr uint32_t kForcedEnd = 0;     // MarianConfig's default for forced_eos_token_id

struct MarianConfig {
  uint32_t source_vocab_size, target_vocab_size, d_model, max_positions;
  Activation activation;
  bool shared_embeddings, tied_projection, scale_embedding, static_positions;
  bool pre_norm, embedding_norm, final_norm;
};

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
  result.activation = read_activation(config, "activation_function");
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
    read_tables(kMarianTables,
                {settings_.shared_embeddings, settings_.tied_projection, settings_.source_vocab_size,
                 settings_.target_vocab_size, settings_.d_model},
                tensors_, spec_);
    read_stack("encoder", spec_.encoder);
    read_stack("decoder", spec_.decoder);
    tensors_.check_missing();
    const std::vector<std::string> unused = tensors_.unused();
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }

 private:
  NormSpec norm(const std::string& prefix) { return tensors_.norm(prefix, settings_.d_model, true, kNormEpsilon); }

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
    const LayerShape shape = {stack.d_model, stack.d_ff, kNormEpsilon, name == "decoder"};
    for (uint32_t i = 0; i < n_layers; ++i)
      stack.layers.push_back(read_layer(format_text("{}.layers.{}", prefix, i), shape, tensors_));
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
          format_text("{} is not the table of sinusoids that Marian models have (differs by up to {:.3g}); "
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

ModelSpec load_marian(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const std::filesystem::path generation_file = side_file(checkpoint, "generation_config.json");
  const Config generation = side_config(checkpoint, "generation_config.json");
  check_marian_settings(checkpoint.config, generation);
  MarianReader reader(checkpoint, spec);
  const MarianConfig& settings = reader.settings();
  std::error_code error;
  spec.generation = hugging_face_generation(
      generation, checkpoint.config,
      {settings.target_vocab_size, settings.max_positions, std::filesystem::exists(generation_file, error), kForcedEnd},
      spec.warnings);
  reader.read();  // first: a vocabulary takes as much memory as its setting says, which the tensors bear out
  read_marian_text(checkpoint, settings.source_vocab_size, settings.target_vocab_size, spec);
  return spec;
}

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
  required.require("activation_function", kActivationNames);
  if (!generation.has("eos_token_id")) required.require("eos_token_id", "a token id");
  if (!generation.has("decoder_start_token_id") && !generation.has("pad_token_id") && !config.has("pad_token_id")) {
    required.require("decoder_start_token_id", "a token id");
  }
  required.check();
}

const ConfigFamily kMarianFamily = {
    "marian",
    "Hugging Face Marian, OPUS-MT",
    load_marian,
    marian_tensors,
    nullptr,
    nullptr,
    {"OPUS-MT and other Marian models of Hugging Face", "safetensors (also sharded), `pytorch_model.bin`"}};

}  // namespace goldcrest::converter
