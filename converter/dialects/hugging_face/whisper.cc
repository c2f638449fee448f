// SPDX-License-Identifier: Apache-2.0
// Whisper (transformers/models/whisper/{configuration,modeling}_whisper.py at v5.23): log-mel features through two
// convolutions, BART's layers with norms before blocks, keys without bias.
#include <algorithm>
#include <cmath>
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/families.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/seq2seq_graph.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/speech/parts.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kUsualBands = 80, kMostBands = 256, kUsualSourcePositions = 1500, kUsualTargetPositions = 448;
// Settings of generation_config.json that only Whisper has. Most concern timestamps, long recordings and the text
// before a prompt; they are not read.
const std::vector<std::string> kOwnKeys = {"alignment_heads", "begin_suppress_tokens", "forced_decoder_ids",
    "is_multilingual", "lang_to_id", "language", "task", "max_initial_timestamp_index", "no_timestamps_token_id",
    "prev_sot_token_id", "return_timestamps", "task_to_id", "median_filter_width"};

void require_whisper_settings(const Config& config) {
  std::vector<std::string> keys = seq2seq_counts();
  keys.insert(keys.end(), {"vocab_size", "activation_function"});
  RequiredSettings required(config, keys);
  for (const std::string& key : keys)
    required.require(key, key == "activation_function" ? kActivationNames : "an integer");
  required.check();
}

struct Sizes {
  uint32_t vocab_size, d_model, bands, source_positions, target_positions;
};

Sizes sizes_of(const Config& config) {
  return {config.count("vocab_size", 1, kMaxVocabulary), config.count("d_model", 2, kMaxWidth),
      config.count_or("num_mel_bins", kUsualBands, 1, kMostBands),
      config.count_or("max_source_positions", kUsualSourcePositions, 1, kMaxPositions),
      config.count_or("max_target_positions", kUsualTargetPositions, 2, kMaxPositions)};
}

void read_whisper_stack(const std::string& name, const Config& config, TensorReader& tensors, StackSpec& stack) {
  const Sizes sizes = sizes_of(config);
  const bool is_decoder = name == "decoder";
  const std::string heads = name + "_attention_heads", prefix = "model." + name;
  stack.d_model = sizes.d_model;
  stack.d_ff = config.count(name + "_ffn_dim", 1, kMaxWidth);
  stack.n_heads = config.count(heads, 1, kMaxHeads);
  if (stack.d_model % stack.n_heads != 0)
    throw Error("{} is {}, expected a divisor of d_model {}", config.where(heads), stack.n_heads, stack.d_model);
  stack.d_head = stack.d_model / stack.n_heads;
  stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
  stack.activation = read_activation(config, "activation_function");
  stack.pre_norm = true;
  stack.positions = *tensors.matrix(
      prefix + ".embed_positions.weight", is_decoder ? sizes.target_positions : sizes.source_positions, stack.d_model);
  LayerShape shape = {stack.d_model, stack.d_ff, kSeq2SeqNormEpsilon, is_decoder};
  shape.has_key_bias = false;
  const uint32_t layers = config.count(name + "_layers", 1, kMaxLayers);
  for (uint32_t i = 0; i < layers; ++i)
    stack.layers.push_back(read_layer(format_text("{}.layers.{}", prefix, i), shape, tensors));
  stack.final_norm = tensors.norm(prefix + ".layer_norm", stack.d_model, true, kSeq2SeqNormEpsilon);
}

void read_whisper_graph(const Config& config, TensorReader& tensors, ModelSpec& spec) {
  const Sizes sizes = sizes_of(config);
  const auto convolution = [&](const char* name, uint32_t channels) {
    const std::string prefix = std::string("model.encoder.") + name;
    return LinearSpec{tensors.convolution(prefix + ".weight", sizes.d_model, channels, kWhisperKernel),
        tensors.vector(prefix + ".bias", sizes.d_model)};
  };
  LinearSpec first = convolution("conv1", sizes.bands);
  spec.encoder.frontend = whisper_frontend(sizes.bands, std::move(first), convolution("conv2", sizes.d_model));
  read_whisper_stack("encoder", config, tensors, spec.encoder);
  read_whisper_stack("decoder", config, tensors, spec.decoder);
  spec.decoder.embedding = tensors.matrix("model.decoder.embed_tokens.weight", sizes.vocab_size, sizes.d_model);
  // transformers reads scale_embedding, and scales nothing.
  const bool has_head = tensors.has("proj_out.weight");
  const auto head = has_head ? tensors.matrix("proj_out.weight", sizes.vocab_size, sizes.d_model) : nullptr;
  const bool is_tied = !has_head || config.flag_or("tie_word_embeddings", true);
  spec.projection = {is_tied ? spec.decoder.embedding : head, std::vector<float>(sizes.vocab_size, 0.0f)};
  tensors.check_missing();
  const std::vector<std::string> unused = tensors.unused();
  if (!unused.empty())
    spec.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
}

bool has_vocabulary(const Checkpoint& checkpoint) {
  std::error_code error;
  return std::filesystem::exists(side_file(checkpoint, "tokenizer.json"), error) ||
         std::filesystem::exists(side_file(checkpoint, "vocab.json"), error);
}

std::vector<uint32_t> ids_in_setting(const Config& settings, const std::string& key, uint32_t n_ids) {
  const Value* const list = settings.find(key);
  if (list == nullptr) return {};
  if (!list->is_list()) throw Error("{} is a JSON {}, expected an array", settings.where(key), list->type_name());
  std::vector<uint32_t> ids;
  for (const Value& id : *list) {
    if (!id.is_natural() || id.natural() >= n_ids)
      throw Error("{} has an element that is not a token id below {}", settings.where(key), n_ids);
    ids.push_back(static_cast<uint32_t>(id.natural()));
  }
  return ids;
}

// Throws Error if a setting contradicts the id that the vocabulary has.
void check_id(const Config& settings, const std::string& key, uint32_t found) {
  const uint32_t id = settings.count_or(key, found, 0, kMaxVocabulary);
  if (id == found) return;
  throw Error(
      "{} is {}, but the vocabulary has that entry as id {}: copy both files from where the checkpoint came from",
      settings.where(key), id, found);
}

// The prompt that the checkpoint asks for, as WhisperGenerationMixin._retrieve_init_tokens of transformers 5.24 makes
// it.
class PromptSettings {
 public:
  PromptSettings(const Config& own, const Config& config, const Vocabulary& vocabulary)
      : own_(own), config_(config), vocabulary_(vocabulary) {}

  // *ids <- the languages among which the model chooses, and the prompt. A language that the user asks for replaces the
  // checkpoint's.
  void apply(bool user_has_language, WhisperIds* ids) const {
    const std::string task = own_.text_or("task", ""), language = own_.text_or("language", "");
    if (ids->languages.empty() && !(task + language).empty()) {
      throw Error("{} is {}: the model knows only English (\"is_multilingual\" is false); remove this setting",
          own_.where(task.empty() ? "language" : "task"), in_quotes(task.empty() ? language : task));
    }
    keep_known_languages(ids);
    if (!task.empty() && task != "transcribe" && task != "translate")
      throw Error("{} is {}, expected \"transcribe\" or \"translate\"", own_.where("task"), in_quotes(task));
    if (!task.empty()) ids->prompt.front() = require_id(vocabulary_, "<|" + task + "|>", "Whisper's entry");
    if (user_has_language) return;
    if (!language.empty()) {
      ids->language_is_open = false;
      ids->prompt.insert(ids->prompt.begin(), language_id(language, *ids));
    } else if (task.empty()) {
      apply_forced(own_.has("forced_decoder_ids") ? own_ : config_, ids);
    }
  }
 private:
  // Leaves the languages of the setting lang_to_id, where a checkpoint sets it.
  void keep_known_languages(WhisperIds* ids) const {
    const Value* const known = own_.find("lang_to_id");
    if (known == nullptr || !known->is_map() || ids->languages.empty()) return;
    std::erase_if(ids->languages, [&](const LanguageEntry& entry) {
      const Value* const id = known->find("<|" + entry.code + "|>");
      if (id == nullptr) return true;
      if (id->is_natural() && id->natural() == entry.id) return false;
      throw Error(
          "{} has {} for {}, but the vocabulary has that entry as id {}: copy both files from where the "
          "checkpoint came from",
          own_.where("lang_to_id"), write_json(*id), in_quotes(entry.code), entry.id);
    });
    if (ids->languages.empty()) throw Error("{} has no language of the vocabulary", own_.where("lang_to_id"));
  }

  uint32_t language_id(const std::string& language, const WhisperIds& ids) const {
    std::vector<std::string> codes;
    for (const LanguageEntry& entry : ids.languages) {
      codes.push_back(entry.code);
      if (language_code(language) == entry.code) return entry.id;
    }
    throw Error("{} is {}, expected a code or an English name of the vocabulary's languages: {}",
        own_.where("language"), in_quotes(language), list_in_quotes(codes, 100));
  }

  // forced_decoder_ids: [[1, ID], [2, ID], ...]; null as the first id leaves the language to the model.
  void apply_forced(const Config& home, WhisperIds* ids) const {
    const Value* const pairs = home.find("forced_decoder_ids");
    if (pairs == nullptr || !pairs->is_list() || pairs->size() == 0) return;
    const std::string where = home.where("forced_decoder_ids");
    std::vector<uint32_t> prompt;
    bool is_open = false;
    uint64_t position = 0;
    for (const Value& pair : *pairs) {
      const bool is_pair = pair.is_list() && pair.size() == 2 && pair[0].is_natural();
      if (!is_pair || pair[0].natural() != ++position)
        throw Error("{} has no entry for position {}, expected [[1, ID], [2, ID], ...]", where, position);
      if (position == 1 && pair[1].is_null()) is_open = !ids->languages.empty();
      if (pair[1].is_null()) continue;
      if (!pair[1].is_natural() || pair[1].natural() >= vocabulary_.id_to_text.size())
        throw Error("{} has an id that is not below {}", where, vocabulary_.id_to_text.size());
      prompt.push_back(static_cast<uint32_t>(pair[1].natural()));
    }
    if (prompt.empty() || prompt.back() != ids->no_timestamps) prompt.push_back(ids->no_timestamps);
    ids->language_is_open = is_open;
    ids->prompt = std::move(prompt);
  }

  const Config& own_;
  const Config& config_;
  const Vocabulary& vocabulary_;
};

// A sequence of transformers has at most as many ids as the decoder has positions, and min_length counts all of them.
void count_prompt(bool has_min_new_tokens, uint32_t positions, GenerationSpec* generation) {
  const auto prompt = static_cast<uint32_t>(generation->prompt.size());
  uint32_t *const most = &generation->max_target_tokens, *const least = &generation->min_target_tokens;
  *most = std::min(*most, std::max(positions, prompt + 2) - prompt - 1);
  if (!has_min_new_tokens) *least -= std::min(*least, prompt);
  *least = std::min(*least, *most);
}

ModelSpec load_whisper(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Config& config = checkpoint.config;
  require_whisper_settings(config);
  const Sizes sizes = sizes_of(config);
  const Config generation = side_config(checkpoint, "generation_config.json");
  std::error_code error;
  const bool has_generation = std::filesystem::exists(side_file(checkpoint, "generation_config.json"), error);
  const GenerationBounds bounds = {sizes.vocab_size, sizes.target_positions, has_generation, {}, {}, kOwnKeys, 0};
  spec.generation = hugging_face_generation(generation, config, bounds, spec.warnings);
  TensorReader tensors(checkpoint.tensors);
  read_whisper_graph(config, tensors, spec);
  const Config& own = has_generation ? generation : config;
  const WhisperSuppressed suppressed = {spec.generation.suppressed_ids,
      ids_in_setting(own, "begin_suppress_tokens", sizes.vocab_size),
      own.count_or("max_initial_timestamp_index", 50, 0, kWhisperTimes)};
  spec.generation.alignment_heads = whisper_alignment_heads(own, spec.decoder);
  if (own.flag_or("return_timestamps", false) && !checkpoint.choices.timestamps) {
    spec.warnings.push_back(
        own.where("return_timestamps") + " is true; results have timestamps only with --timestamps");
  }
  if (checkpoint.is_shape && !has_vocabulary(checkpoint)) {
    finish_whisper(usual_whisper_ids(sizes.vocab_size), suppressed, checkpoint.choices, spec);
    count_prompt(own.has("min_new_tokens"), sizes.target_positions, &spec.generation);
    return spec;
  }
  const Vocabulary vocabulary = read_byte_level_vocabulary(checkpoint, sizes.vocab_size, spec);
  WhisperIds ids = find_whisper_ids(vocabulary, own.flag_or("is_multilingual", sizes.vocab_size >= kFirstMultilingual));
  check_id(own, "no_timestamps_token_id", ids.no_timestamps);
  check_id(own, "decoder_start_token_id", ids.start);
  PromptSettings(own, config, vocabulary).apply(!checkpoint.choices.language.empty(), &ids);
  finish_whisper(ids, suppressed, checkpoint.choices, spec);
  count_prompt(own.has("min_new_tokens"), sizes.target_positions, &spec.generation);
  spec.target_tokenizer = speech_tokenizer(vocabulary, spec.decoder.embedding->rows, SpeechText::kByteLevel);
  return spec;
}

std::vector<ShapedTensor> whisper_tensors(const Config& config) {
  require_whisper_settings(config);
  ModelSpec spec;
  TensorReader lister;
  read_whisper_graph(config, lister, spec);
  return lister.listed();
}
}  // namespace

Vocabulary read_byte_level_vocabulary(const Checkpoint& checkpoint, uint32_t n_ids, ModelSpec& spec) {
  std::error_code error;
  const auto exists = [&](const char* name) { return std::filesystem::exists(side_file(checkpoint, name), error); };
  if (exists("tokenizer.json")) {
    spec.tokenizer_files = {side_file(checkpoint, "tokenizer.json")};
    return read_tokenizer_json(spec.tokenizer_files[0], n_ids, SpeechText::kByteLevel);
  }
  const std::filesystem::path path = side_file(checkpoint, "vocab.json");
  if (!exists("vocab.json")) {
    throw Error("{}: is missing, and so is tokenizer.json: copy one of them from where the checkpoint came from",
        path.string());
  }
  spec.tokenizer_files = {path};
  Value entries = read_json_object(path), added = Value::map();
  if (exists("added_tokens.json")) {
    spec.tokenizer_files.push_back(side_file(checkpoint, "added_tokens.json"));
    added = read_json_object(spec.tokenizer_files.back());
    update(entries, added);
  }
  Vocabulary vocabulary = vocabulary_of_json(entries, n_ids, path.string());
  for (const auto& [text, id] : added.members()) vocabulary.added_ids.push_back(static_cast<uint32_t>(id.natural()));
  return vocabulary;
}

const ConfigFamily kWhisperFamily = {
    "whisper", "Whisper", load_whisper, whisper_tensors, nullptr, nullptr, {nullptr, nullptr}};
}  // namespace goldcrest::converter
