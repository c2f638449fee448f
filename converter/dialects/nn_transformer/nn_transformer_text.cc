// SPDX-License-Identifier: Apache-2.0
// Tokenizers, special ids and search settings of the nn_transformer dialect (NN_TRANSFORMER.md).
#include <algorithm>
#include <cmath>
#include <map>
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/text/subword_text.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"
#include "tokenizers/subword_codes.h"

namespace goldcrest::converter {
namespace {
// One side of the model, "source" or "target": its vocabulary and the special ids in it.
class Side {
 public:
  Side(const Config& config, std::string name, uint32_t n_ids)
      : config_(config), name_(std::move(name)), n_ids_(n_ids) {
    read_vocabulary_setting();
  }

  // Returns the id of a special token, which is given as a text of the vocabulary or as the id. Returns nothing if the
  // setting is absent.
  std::optional<uint32_t> token(const std::string& key) const {
    const std::string own = side_key(config_, name_, key);
    const Value* value = config_.find(own);
    if (value == nullptr) return std::nullopt;
    return id_of(*value, own);
  }

  uint32_t required_token(const std::string& key) const {
    const auto id = token(key);
    if (!id) throw Error("{} is missing; it is a text of the vocabulary or a token id", config_.where(key));
    return *id;
  }

  std::vector<uint32_t> tokens(const std::string& key) const {
    std::vector<uint32_t> ids;
    const Value* values = config_.find(key);
    if (values == nullptr) return ids;
    if (!values->is_list()) throw Error("{} is a JSON {}, expected an array", config_.where(key), values->type_name());
    for (const Value& value : *values) ids.push_back(id_of(value, key));
    return ids;
  }

  // The files of the vocabulary: config.json itself if it lists the texts.
  const std::vector<std::filesystem::path>& files() const { return files_; }

  // Reads [[token, bias], ...].
  std::map<uint32_t, float> biases(const std::string& key) const {
    std::map<uint32_t, float> biases;
    const Value* pairs = config_.find(key);
    if (pairs == nullptr) return biases;
    if (!pairs->is_list()) throw Error("{} is a JSON {}, expected an array", config_.where(key), pairs->type_name());
    for (const Value& pair : *pairs) {
      if (!pair.is_list() || pair.size() != 2 || !pair[1].is_number() ||
          std::abs(pair[1].number()) > double{kMaxBias}) {
        throw Error("{} has an element that is not [TOKEN, BIAS] with a bias from {} to {}", config_.where(key),
            -kMaxBias, kMaxBias);
      }
      biases[id_of(pair[0], key)] = static_cast<float>(pair[1].number());
    }
    return biases;
  }

  std::optional<TokenizerSpec> tokenizer(std::vector<std::string>& warnings) const {
    if (vocabulary_.id_to_text.empty()) return std::nullopt;
    if (const size_t gaps = count_gaps(vocabulary_); gaps > 0)
      warnings.push_back(format_text("{}: {} of the embedding's {} ids have no text", vocabulary_.where, gaps, n_ids_));
    if (model_ && !config_.has(name_ + "_sentencepiece")) return with_all_ids(*model_);
    Vocabulary vocabulary = vocabulary_;
    const auto unknown = token("unk_token");
    if (!unknown) throw Error("{} is missing; every vocabulary needs an unknown token", config_.where("unk_token"));
    vocabulary.unknown_id = *unknown;
    for (const char* key : {"pad_token", "bos_token", "eos_token"})
      if (const auto id = token(key)) vocabulary.control_ids.push_back(*id);
    if (model_) {
      const PiecesOf side = {model_path_, &*model_, &vocabulary, ""};
      check_entries(vocabulary, {side}, warnings);
      return combine_with_vocabulary(*model_, vocabulary);
    }
    if (codes_) return checked_subword_tokenizer({&*codes_, &vocabulary}, warnings);
    return unit_ == "word" ? word_tokenizer(vocabulary) : character_tokenizer(vocabulary);
  }
 private:
  void read_vocabulary_setting() {
    const std::string key = name_ + "_vocabulary", model_key = name_ + "_sentencepiece", unit_key = name_ + "_unit";
    const Value* list = config_.find(key);
    if (list == nullptr && !config_.has(model_key)) return;  // token ids only
    unit_ = config_.text(unit_key);
    if (unit_ != "word" && unit_ != "character" && unit_ != "sentencepiece" && unit_ != "subword") {
      throw Error("{} is {}, expected \"character\", \"word\", \"sentencepiece\" or \"subword\"",
          config_.where(unit_key), in_quotes(unit_));
    }
    const std::string codes_key = name_ + "_codes";
    if (config_.has(codes_key) != (unit_ == "subword")) {
      throw Error("{} is {}, but {} {}", config_.where(unit_key), in_quotes(unit_), config_.where(codes_key),
          config_.has(codes_key) ? "names subword-nmt's merges" : "is missing, which names subword-nmt's merges");
    }
    if (unit_ == "subword") read_codes(codes_key);
    const bool list_is_model = list != nullptr && list->is_text() && is_sentencepiece_name(list->text());
    if (config_.has(model_key) || list_is_model) {
      model_path_ = config_.file(list_is_model ? key : model_key);
      model_ = read_sentencepiece_model(model_path_);
      files_ = {model_path_};
    }
    if (model_.has_value() != (unit_ == "sentencepiece")) {
      throw Error("{} is {}, but the vocabulary is {}a SentencePiece model (.spm, .model)", config_.where(unit_key),
          in_quotes(unit_), model_ ? "" : "not ");
    }
    if (list == nullptr || list_is_model) {
      vocabulary_ = vocabulary_of_model();
    } else {
      vocabulary_ = list->is_text() ? read_vocabulary(config_.file(key), n_ids_)
                                    : vocabulary_of_json(*list, n_ids_, config_.where(key));
      files_.insert(files_.begin(), list->is_text() ? config_.file(key) : config_.path());
    }
  }

  void read_codes(const std::string& key) {
    const std::filesystem::path path = config_.file(key);
    codes_ = parse_subword_codes(read_small_file(path, kMaxCodesBytes), path.string());
    files_.push_back(path);
  }

  Vocabulary vocabulary_of_model() const {
    Value texts = Value::list();
    for (const Piece& piece : model_->pieces) texts.push_back(piece.text);
    return vocabulary_of_json(texts, n_ids_, config_.where(name_ + "_vocabulary"));
  }

  // Adds empty entries, because the embedding may have more rows than the model has pieces.
  TokenizerSpec with_all_ids(TokenizerSpec spec) const {
    spec.pieces.resize(n_ids_, Piece{"", 0, PieceType::kControl});
    spec.vocab_size = n_ids_;
    return spec;
  }

  uint32_t id_of(const Value& value, const std::string& key) const {
    if (value.is_text()) {
      if (vocabulary_.id_to_text.empty())
        throw Error("{} is a text, but there is no {}_vocabulary; expected a token id", config_.where(key), name_);
      return require_id(vocabulary_, value.text(), "which " + config_.where(key) + " names");
    }
    if (!value.is_natural() || value.natural() >= n_ids_)
      throw Error("{}: expected a text of the vocabulary or a token id below {}", config_.where(key), n_ids_);
    return static_cast<uint32_t>(value.natural());
  }

  const Config& config_;
  std::string name_, unit_;
  uint32_t n_ids_;
  Vocabulary vocabulary_;  // [n_ids], or empty: token ids only
  std::optional<TokenizerSpec> model_;
  std::optional<SubwordCodes> codes_;
  std::filesystem::path model_path_;
  std::vector<std::filesystem::path> files_;
};

void read_search(const Config& config, uint32_t max_positions, GenerationSpec& generation) {
  generation.beam_size = config.count_or("beam_size", 1, 1, kMaxBeams);
  generation.length_penalty = static_cast<float>(config.number_or("length_penalty", 1, -2, 4));
  generation.max_target_tokens = config.count_or("max_length", max_positions, 1, max_positions);
  generation.min_target_tokens = config.count_or("min_length", 0, 0, generation.max_target_tokens);
}

void read_rules(const Config& config, const Side& target, GenerationSpec& generation) {
  RulesSpec& rules = generation.rules;
  rules.early_stopping = read_early_stopping(config);
  const std::string kind = config.text_or("length_penalty_kind", "power");
  if (kind != "power" && kind != "wu")
    throw Error("{} is {}, expected \"power\" or \"wu\"", config.where("length_penalty_kind"), in_quotes(kind));
  rules.length_penalty_kind = kind == "wu" ? GOLDCREST_LENGTH_WU : GOLDCREST_LENGTH_POWER;
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_READ_##kind(field, __VA_ARGS__)
#define GOLDCREST_READ_WORD(...)
#define GOLDCREST_READ_FLAG(field, usual, ...) rules.field = config.flag_or(#field, usual);
#define GOLDCREST_READ_COUNT(field, ...) rules.field = config.count_or(#field, 0, 0, kMaxPositions);
#define GOLDCREST_READ_NUMBER(field, none, least, largest, ...) \
  if (config.has(#field)) rules.field = static_cast<float>(config.number_or(#field, none, least, largest));
#include "goldcrest/search_rules.h"
  rules.more_end_ids = target.tokens("more_end_tokens");
  rules.biases = target.biases("token_biases");
}
}  // namespace

void read_nn_transformer_text(const Checkpoint& checkpoint, ModelSpec& spec) {
  const Config& config = checkpoint.config;
  const Side source(config, "source", spec.encoder.embedding->rows);
  const Side target(config, "target", spec.decoder.embedding->rows);
  spec.source_tokenizer = source.tokenizer(spec.warnings);
  spec.target_tokenizer = target.tokenizer(spec.warnings);
  for (const Side* side : {&source, &target}) {
    for (const std::filesystem::path& file : side->files()) {
      const bool is_new =
          std::find(spec.tokenizer_files.begin(), spec.tokenizer_files.end(), file) == spec.tokenizer_files.end();
      if (is_new) spec.tokenizer_files.push_back(file);
    }
  }
  GenerationSpec& generation = spec.generation;
  const auto start = target.token("decoder_start_token");
  generation.decoder_start_id = start ? *start : target.required_token("bos_token");
  generation.end_id = target.required_token("eos_token");
  generation.pad_id = target.token("pad_token");
  generation.unknown_id = target.token("unk_token");
  generation.forced_first_id = target.token("forced_first_token");
  generation.suppressed_ids = target.tokens("suppressed_tokens");
  if (config.flag_or("add_source_bos", false)) generation.source_prefix = {source.required_token("bos_token")};
  if (config.flag("add_source_eos")) generation.source_suffix = {source.required_token("eos_token")};
  read_search(config, spec.decoder.positions.rows, generation);
  read_rules(config, target, generation);
  spec.source_language = config.text_or("source_language", "");
  spec.target_language = config.text_or("target_language", "");
  for (const char* read_later : {"_name_or_path", "name", "license", "attribution"}) config.has(read_later);
  for (const std::string& key : config.unread())
    spec.warnings.push_back(config.where(key) + why_ignored(key, nn_transformer_settings()));
}
}  // namespace goldcrest::converter
