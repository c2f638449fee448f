// SPDX-License-Identifier: Apache-2.0
// The settings that the nn_transformer dialect knows, and those that a config.json must have (NN_TRANSFORMER.md).
#include "dialects/config.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"

namespace goldcrest::converter {
namespace {
struct Choice {
  const char *key, *expected;
};

// Settings of each stack; all are required.
constexpr Choice kStackChoices[] = {{"nhead", "the number of attention heads, a divisor of d_model"},
    {"activation", R"("relu", "gelu", "gelu_tanh" or "silu")"}, {"norm_first", "true or false"},
    {"scale_embedding", "true if embeddings are multiplied by sqrt(d_model), else false"},
    {"position_encoding", R"("sinusoidal_interleaved", "sinusoidal_concatenated", "learned" or "stored")"}};

constexpr const char* kPlainKeys[] = {"model_type", "num_encoder_layers", "num_decoder_layers", "tensors", "name",
    "license", "attribution", "_name_or_path", "shared_embeddings", "tied_output_projection", "add_source_eos",
    "add_source_bos", "beam_size", "length_penalty", "max_length", "min_length", "suppressed_tokens",
#define GOLDCREST_RULE(kind, field, ...) #field,
#include "goldcrest/search_rules.h"
    "more_end_tokens", "token_biases"};
constexpr const char* kStackKeys[] = {"layer_norm_eps", "d_model", "d_k", "d_v", "dim_feedforward", "max_positions",
    "position_offset", "position_denominator", "position_base", "final_norm"};
constexpr const char* kTokenKeys[] = {
    "bos_token", "eos_token", "unk_token", "pad_token", "decoder_start_token", "forced_first_token"};
constexpr const char* kSideKeys[] = {"vocabulary", "vocab_size", "unit", "sentencepiece", "codes", "language"};

std::vector<std::string> known_nn_settings() {
  std::vector<std::string> keys(std::begin(kPlainKeys), std::end(kPlainKeys));
  const auto add_stack = [&](const std::string& key) {
    for (const char* prefix : {"", "encoder_", "decoder_"}) keys.push_back(prefix + key);
  };
  for (const Choice& choice : kStackChoices) add_stack(choice.key);
  for (const char* key : kStackKeys) add_stack(key);
  for (const std::string side : {"source_", "target_"}) {
    for (const char* key : kTokenKeys) keys.push_back(side + key);
    for (const char* key : kSideKeys) keys.push_back(side + key);
  }
  keys.insert(keys.end(), std::begin(kTokenKeys), std::end(kTokenKeys));
  return keys;
}

bool has_for_both(const Config& config, const std::string& first, const std::string& second, const std::string& key) {
  return config.has(key) || (config.has(first + key) && config.has(second + key));
}

// True for a side whose vocabulary needs unk_token: a list, with or without a SentencePiece model.
bool needs_unknown(const Config& config, const std::string& side) {
  const Value* list = config.find(side + "vocabulary");
  if (config.has(side + "sentencepiece")) return true;
  return list != nullptr && !(list->is_text() && is_sentencepiece_name(list->text()));
}

bool has_token(const Config& config, const std::string& side, const std::string& key) {
  return config.has(key) || config.has(side + key);
}

void require_text(const Config& config, RequiredSettings& required) {
  constexpr const char* kToken = "a text of the vocabulary or a token id";
  for (const std::string side : {"source_", "target_"}) {
    const bool has_vocabulary = config.has(side + "vocabulary") || config.has(side + "sentencepiece");
    if (has_vocabulary) required.require(side + "unit", R"("word", "character", "subword" or "sentencepiece")");
    if (needs_unknown(config, side) && !has_token(config, side, "unk_token")) required.missing("unk_token", kToken);
  }
  const bool has_start = has_token(config, "target_", "decoder_start_token");
  if (!has_start && !has_token(config, "target_", "bos_token")) required.missing("bos_token", kToken);
  if (!has_token(config, "target_", "eos_token")) required.missing("eos_token", kToken);
  required.require("add_source_eos", "true if the end token follows a source, else false");
}

void require_tensors(
    const Config& config, const Config& names, const TensorReader& tensors, RequiredSettings& required) {
  std::vector<std::string> tables;
  for (const std::string& name : tensors.names())
    if (tensors.shape(name).size() == 2 && name.find(".layers.") == std::string::npos) tables.push_back(name);
  const std::string of_tables = ", of which the checkpoint has " + list_in_quotes(tables, 8);
  required.require("source_embedding", "the name of a table" + of_tables);
  if (!config.flag_or("shared_embeddings", false))
    required.require("target_embedding", "the name of a table, or \"shared_embeddings\": true");
  if (!config.flag_or("tied_output_projection", false))
    required.require("output_projection", "the name of the last linear layer, or \"tied_output_projection\": true");
  const auto is_stored = [&](const std::string& stack) {
    const Value* kind = config.find(side_key(config, stack, "position_encoding"));
    return kind != nullptr && (*kind == "learned" || *kind == "stored");
  };
  const bool has_all = names.has("positions");
  if ((is_stored("encoder") && !has_all && !names.has("source_positions")) ||
      (is_stored("decoder") && !has_all && !names.has("target_positions")))
    required.missing("positions", "the name of the table of positions");
}
}  // namespace

const std::vector<std::string>& nn_transformer_settings() {
  static const std::vector<std::string> kKnown = known_nn_settings();
  return kKnown;
}

const std::vector<std::string>& nn_transformer_tensor_settings() {
  static const std::vector<std::string> kKnown = {"source_embedding", "target_embedding", "output_projection",
      "output_bias", "transformer", "encoder", "decoder", "positions", "source_positions", "target_positions",
      "source_embedding_norm", "target_embedding_norm"};
  return kKnown;
}

void require_nn_transformer_settings(const Config& config, RequiredSettings& required) {
  for (const Choice& choice : kStackChoices)
    if (!has_for_both(config, "encoder_", "decoder_", choice.key)) required.missing(choice.key, choice.expected);
  for (const std::string stack : {"encoder", "decoder"}) {
    const Value* kind = config.find(side_key(config, stack, "position_encoding"));
    const bool is_computed = kind != nullptr && kind->is_text() && kind->text().starts_with("sinusoidal");
    if (is_computed && !config.has(side_key(config, stack, "max_positions")))
      required.missing("max_positions", "the most positions that a text may have");
  }
  require_text(config, required);
}

void check_nn_transformer_settings(const Config& config, const Config& names, const TensorReader& tensors) {
  RequiredSettings required(config, nn_transformer_settings());
  require_nn_transformer_settings(config, required);
  RequiredSettings of_tensors(names, nn_transformer_tensor_settings());
  require_tensors(config, names, tensors, of_tensors);
  required.add("tensors", of_tensors);
  required.check();
}
}  // namespace goldcrest::converter
