// SPDX-License-Identifier: Apache-2.0
// Hugging Face Marian, which is also OPUS-MT: config.json, generation_config.json, vocab.json, source.spm, target.spm
// and the tensors of MarianMTModel (transformers/models/marian/modeling_marian.py at v5.2; older versions also had
// learned positions, pre-norm, embedding norms and final norms).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/bounds.h"
#include "dialects/dialect.h"
#include "dialects/generation.h"
#include "dialects/positions.h"
#include "dialects/required_settings.h"
#include "dialects/tensor_reader.h"
#include "dialects/vocabulary_file.h"
#include "sources/messages.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {

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

// `generation`: generation_config.json, which may have the ids in its place.
void check_settings(const Config& config, const Config& generation) {
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

MarianConfig read_config(const Config& config) {
  MarianConfig result{};
  result.source_vocab_size = config.count("vocab_size", 1, kMaxVocabulary);
  result.shared_embeddings = config.flag_or("share_encoder_decoder_embeddings", true);
  result.target_vocab_size = result.shared_embeddings
                                 ? result.source_vocab_size
                                 : config.count_or("decoder_vocab_size", result.source_vocab_size, 1, kMaxVocabulary);
  result.d_model = config.count("d_model", 2, kMaxWidth);
  result.max_positions = config.count_or("max_position_embeddings", 1024, 1, kMaxPositions);
  if (uint64_t{result.max_positions} * result.d_model > kMaxPositionValues) {
    throw Error("{} is {}, too many for d_model {}", config.where("max_position_embeddings"), result.max_positions,
                result.d_model);
  }
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
        tensors_(*checkpoint.tensors),
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
  // The table under the first of `names` that is there; the others, which the model ties to it, must have the same
  // values.
  std::shared_ptr<const Matrix> tied_table(const std::vector<std::string>& names, uint32_t rows) {
    std::shared_ptr<const Matrix> table;
    for (const std::string& name : names) {
      if (!tensors_.has(name)) continue;
      const auto next = tensors_.matrix(name, rows, settings_.d_model);
      if (!table) {
        table = next;
      } else if (share_if_equal(table, next) != table) {
        spec_.warnings.push_back(fmt::format("{} differs from {}, although config.json ties them; the latter is used",
                                             tensors_.describe(name), in_quotes(table->name)));
      }
    }
    return table ? table : tensors_.matrix(names[0], rows, settings_.d_model);  // which says that it is missing
  }

  void read_tables() {
    const std::string encoder = "model.encoder.embed_tokens.weight", decoder = "model.decoder.embed_tokens.weight";
    const std::string shared = "model.shared.weight", head = "lm_head.weight";
    std::vector<std::string> target_names =
        settings_.shared_embeddings ? std::vector{shared, encoder, decoder} : std::vector{decoder};
    if (settings_.tied_projection) target_names.push_back(head);
    spec_.decoder.embedding = tied_table(target_names, settings_.target_vocab_size);
    spec_.encoder.embedding =
        settings_.shared_embeddings ? spec_.decoder.embedding : tied_table({encoder}, settings_.source_vocab_size);
    spec_.projection.weight =
        settings_.tied_projection
            ? spec_.decoder.embedding
            : share_if_equal(spec_.decoder.embedding,
                             tensors_.matrix(head, settings_.target_vocab_size, settings_.d_model));
    spec_.projection.bias = tensors_.has("final_logits_bias")
                                ? tensors_.vector("final_logits_bias", settings_.target_vocab_size)
                                : std::vector<float>(settings_.target_vocab_size, 0.0f);
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

  // Static positions are computed; a stored table is compared with them and decides when it differs.
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
    if (difference <= kTolerance) return computed;
    spec_.warnings.push_back(
        fmt::format("{} is not the table of sinusoids that Marian models have (differs by up to {:.3g}); "
                    "the stored table is used",
                    tensors_.describe(name), difference));
    return *stored;
  }

  const Config& config_;
  MarianConfig settings_;
  TensorReader tensors_;
  ModelSpec& spec_;
};

Config optional_config(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Config(nlohmann::json::object(), path.string(), path);
  return Config(path);
}

// A file that lies beside the weights, or else beside the config.json that --config names.
std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name) {
  std::error_code error;
  const std::filesystem::path beside_config = checkpoint.config.path().parent_path() / name;
  const bool is_there =
      !std::filesystem::exists(checkpoint.directory / name, error) && std::filesystem::exists(beside_config, error);
  return is_there ? beside_config : checkpoint.directory / name;
}

// A file of the checkpoint that MarianTokenizer needs.
std::filesystem::path tokenizer_file(const Checkpoint& checkpoint, const char* name) {
  std::filesystem::path path = side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !std::filesystem::is_symlink(path, error)) {
    throw Error(
        "{}: is missing; a Marian checkpoint has source.spm, target.spm and vocab.json (and target_vocab.json with "
        "separate vocabularies): copy it from where the checkpoint came from",
        path.string());
  }
  return path;
}

struct SpecialTexts {
  std::string unknown, end, pad;
};

// A setting of tokenizer_config.json that is a text, or an object with its text as "content".
std::string token_text(const Config& tokenizer, const char* key, const char* usual) {
  const nlohmann::json* value = tokenizer.find(key);
  if (value != nullptr && value->is_object()) return tokenizer.object_or_empty(key).text_or("content", usual);
  return tokenizer.text_or(key, usual);
}

Vocabulary marian_vocabulary(const std::filesystem::path& path, uint32_t n_ids, const SpecialTexts& special,
                             std::vector<std::string>& warnings) {
  Vocabulary vocabulary = read_vocabulary(path, n_ids);
  vocabulary.unknown_id = require_id(vocabulary, special.unknown, "the unknown token");
  vocabulary.control_ids.push_back(require_id(vocabulary, special.end, "the end token"));
  if (const auto pad = find_id(vocabulary, special.pad)) vocabulary.control_ids.push_back(*pad);
  if (const size_t gaps = count_gaps(vocabulary); gaps > 0) {
    warnings.push_back(fmt::format("{}: {} of {} ids have no text", vocabulary.where, gaps, n_ids));
  }
  return vocabulary;
}

bool has_tokenizer(const std::filesystem::path& directory) {
  std::error_code error;
  for (const char* name : {"vocab.json", "source.spm", "target.spm"}) {
    if (!std::filesystem::exists(directory / name, error)) return false;
  }
  return true;
}

void read_tokenizers(const Checkpoint& checkpoint, const MarianConfig& settings, ModelSpec& spec) {
  const Config tokenizer = optional_config(side_file(checkpoint, "tokenizer_config.json"));
  const SpecialTexts special = {token_text(tokenizer, "unk_token", "<unk>"), token_text(tokenizer, "eos_token", "</s>"),
                                token_text(tokenizer, "pad_token", "<pad>")};
  spec.source_language = tokenizer.text_or("source_lang", "");
  spec.target_language = tokenizer.text_or("target_lang", "");

  const Vocabulary source =
      marian_vocabulary(tokenizer_file(checkpoint, "vocab.json"), settings.source_vocab_size, special, spec.warnings);
  const Vocabulary target = tokenizer.flag_or("separate_vocabs", false)
                                ? marian_vocabulary(tokenizer_file(checkpoint, "target_vocab.json"),
                                                    settings.target_vocab_size, special, spec.warnings)
                                : source;
  if (target.id_to_text.size() != settings.target_vocab_size) {
    throw Error(
        "{}: the decoder's vocabulary has {} entries, the encoder's {}, but there is no target_vocab.json: "
        "expected \"separate_vocabs\": true in tokenizer_config.json",
        checkpoint.directory.string(), settings.target_vocab_size, settings.source_vocab_size);
  }
  spec.source_tokenizer = pieces_in(tokenizer_file(checkpoint, "source.spm"), source, spec.warnings);
  spec.target_tokenizer = pieces_in(tokenizer_file(checkpoint, "target.spm"), target, spec.warnings);
  spec.generation.unknown_id = target.unknown_id;
  // MarianTokenizer ends a source with the end token of the vocabulary that it reads the source with.
  spec.generation.source_suffix = {require_id(source, special.end, "the end token")};
}

}  // namespace

ModelSpec load_marian(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Config generation = optional_config(side_file(checkpoint, "generation_config.json"));
  check_settings(checkpoint.config, generation);
  MarianReader reader(checkpoint, spec);
  const MarianConfig& settings = reader.settings();
  spec.generation = hugging_face_generation(generation, checkpoint.config,
                                            {settings.target_vocab_size, settings.max_positions}, spec.warnings);
  if (checkpoint.is_shape && !has_tokenizer(checkpoint.directory))
    spec.generation.source_suffix = {spec.generation.end_id};
  else
    read_tokenizers(checkpoint, settings, spec);
  reader.read();
  return spec;
}

}  // namespace goldcrest::converter
