// SPDX-License-Identifier: Apache-2.0
// Hugging Face's generation settings (transformers/generation/configuration_utils.py and logits_process.py at v5.23).
#include "dialects/hugging_face/generation.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include "base/bounds.h"
#include "dialects/config.h"
#include "host/wording.h"
#include "sources/values/value.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
// generation.cc reads these.
constexpr const char* kRead[] = {"bad_words_ids", "decoder_start_token_id", "early_stopping",
    "encoder_no_repeat_ngram_size", "eos_token_id", "forced_bos_token_id", "forced_eos_token_id", "length_penalty",
    "max_length", "max_new_tokens", "min_length", "min_new_tokens", "no_repeat_ngram_size", "num_beams", "pad_token_id",
    "renormalize_logits", "repetition_penalty", "sequence_bias", "suppress_tokens"};

// These change no id of a search without sampling (do_sample is below). They control sampling, caches, returned values,
// a second model that a caller may bring, compilation or the file itself. remove_invalid_values makes values finite
// that are finite here.
constexpr const char* kHarmless[] = {"temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff",
    "eta_cutoff", "use_cache", "cache_implementation", "cache_config", "max_cache_len", "prefill_chunk_size",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_scores", "output_logits",
    "return_dict_in_generate", "bos_token_id", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule",
    "assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind", "assistant_ensemble_weight",
    "max_matching_ngram_size", "compile_config", "disable_compile", "continuous_batching_config",
    "remove_invalid_values", "transformers_version", "_commit_hash", "_from_model_config", "_original_object_hash"};

struct UnsupportedKey {
  const char* key;
  Value neutral;  // the value that asks for nothing, as null does
};

const std::vector<UnsupportedKey>& unsupported_settings() {
  static const std::vector<UnsupportedKey> kAll = {{"assistant_early_exit", nullptr},
      {"begin_suppress_tokens", Value::list()}, {"constraints", nullptr}, {"diversity_penalty", 0.0},
      {"do_sample", false}, {"dola_layers", nullptr}, {"encoder_repetition_penalty", 1.0},
      {"exponential_decay_length_penalty", nullptr}, {"force_words_ids", nullptr}, {"guidance_scale", 1.0},
      {"low_memory", false}, {"max_time", nullptr}, {"num_beam_groups", 1}, {"penalty_alpha", 0.0},
      {"prompt_lookup_num_tokens", nullptr}, {"speculation_type", nullptr}, {"stop_strings", nullptr},
      {"token_healing", false}, {"use_mtp", false}, {"watermarking_config", nullptr}};
  return kAll;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys(std::begin(kRead), std::end(kRead));
  keys.insert(keys.end(), std::begin(kHarmless), std::end(kHarmless));
  for (const UnsupportedKey& setting : unsupported_settings()) keys.push_back(setting.key);
  return keys;
}

bool asks(const Config& config, const UnsupportedKey& setting) {
  const Value* value = config.find(setting.key);
  return value != nullptr && *value != setting.neutral;
}
}  // namespace

void warn_of_unsupported(const Config& generation, bool is_generation_file, const std::vector<std::string>& own_keys,
    std::vector<std::string>& warnings) {
  const auto is_own = [&](const std::string& key) { return std::ranges::find(own_keys, key) != own_keys.end(); };
  for (const UnsupportedKey& setting : unsupported_settings())
    if (!is_own(setting.key) && asks(generation, setting))
      warnings.push_back(generation.where(setting.key) + " is not supported and was ignored");
  if (!is_generation_file) return;
  std::vector<std::string> known = known_keys();
  known.insert(known.end(), own_keys.begin(), own_keys.end());
  for (const std::string& key : generation.keys()) {
    if (!generation.has(key) || std::ranges::find(known, key) != known.end()) continue;
    warnings.push_back(generation.where(key) + " is not known and was ignored" + guess(key, known));
  }
}

void warn_of_ignored(const Config& generation, const Config& config, std::vector<std::string>& warnings) {
  std::vector<std::string> ignored;
  const auto add = [&](const std::string& key) {
    if (!key.ends_with("_token_id") && config.has(key) && !generation.has(key)) ignored.push_back(key);
  };
  for (const char* key : kRead) add(key);
  for (const UnsupportedKey& setting : unsupported_settings())
    if (asks(config, setting)) add(setting.key);
  if (ignored.empty()) return;
  warnings.push_back(
      format_text("{}: {} ignored, as in transformers: the checkpoint has a generation_config.json, which lacks {}",
          config.path().string(), list_in_quotes(ignored, ignored.size()), ignored.size() == 1 ? "it" : "them"));
}

namespace {
constexpr uint32_t kMaxTokens = 1u << 24;

class Settings {
 public:
  // `own` is generation_config.json, or config.json if the checkpoint has no such file; `config` is config.json.
  Settings(const Config& own, const Config& config) : own_(own), config_(config) {}

  // A text cannot begin or end without these ids. If generation_config.json lacks them, config.json's are used.
  const Config& home(const std::string& key) const {
    const bool may_be_either = key == "eos_token_id" || key == "pad_token_id" || key == "decoder_start_token_id";
    return may_be_either && !own_.has(key) ? config_ : own_;
  }
  const Value* find(const std::string& key) const { return home(key).find(key); }
  std::string where(const std::string& key) const { return home(key).where(key); }

  std::optional<uint32_t> count(const std::string& key, uint32_t most) const {
    return home(key).optional_count(key, 0, most);
  }
  double number_or(const std::string& key, double fallback, double least, double most) const {
    return home(key).number_or(key, fallback, least, most);
  }

  // Returns the token ids of a setting that is one id or a list.
  std::vector<uint32_t> tokens(const std::string& key, uint32_t vocab_size) const {
    const Value* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_list()) return {*count(key, vocab_size - 1)};
    std::vector<uint32_t> ids;
    for (const Value& id : *value)
      ids.push_back(Config({{key, id}}, home(key).path().string(), {}).count(key, 0, vocab_size - 1));
    return ids;
  }

  // Returns one token id. From a list it returns the first, and warns if there are more.
  std::optional<uint32_t> token(const std::string& key, uint32_t vocab_size, std::vector<std::string>& warnings) const {
    const std::vector<uint32_t> ids = tokens(key, vocab_size);
    if (ids.empty()) return std::nullopt;
    if (ids.size() > 1) warnings.push_back(where(key) + " has several tokens; only the first is used");
    return ids[0];
  }
 private:
  const Config& own_;
  const Config& config_;
};

uint32_t token_id(const Value& id, uint32_t vocab_size, const std::string& where) {
  if (!id.is_natural() || id.natural() >= vocab_size)
    throw Error("{} has an element that is not a token id below {}", where, vocab_size);
  return static_cast<uint32_t>(id.natural());
}

std::vector<uint32_t> token_ids(const Value& list, uint32_t vocab_size, const std::string& where) {
  if (list.size() == 0) throw Error("{} has an empty sequence, expected token ids", where);
  std::vector<uint32_t> ids;
  for (const Value& id : list) ids.push_back(token_id(id, vocab_size, where));
  return ids;
}

// Returns the ids of a list of ids, or of a list of lists with one id each. Appends longer lists to `sequences`.
std::vector<uint32_t> banned_ids(
    const Settings& settings, const std::string& key, uint32_t vocab_size, std::vector<SequenceSpec>& sequences) {
  std::vector<uint32_t> ids;
  const Value* lists = settings.find(key);
  if (lists == nullptr) return ids;
  const std::string where = settings.where(key);
  if (!lists->is_list()) throw Error("{} is a JSON {}, expected an array", where, lists->type_name());
  for (const Value& list : *lists)
    if (list.is_list() && list.size() != 1)
      sequences.push_back({token_ids(list, vocab_size, where), -std::numeric_limits<float>::infinity()});
    else ids.push_back(token_id(list.is_list() ? list.front() : list, vocab_size, where));
  return ids;
}

// A family's configuration forces its usual end unless config.json sets one; a generation_config.json must set it.
void set_ends(const Settings& settings, const Config& config, const GenerationBounds& bounds, GenerationSpec& spec,
    std::vector<std::string>& warnings) {
  std::vector<uint32_t> ends = settings.tokens("eos_token_id", bounds.target_vocab_size);
  if (ends.empty()) throw Error("{} is missing", config.where("eos_token_id"));
  std::optional<uint32_t> forced = settings.token("forced_eos_token_id", bounds.target_vocab_size, warnings);
  const std::vector<std::string> keys = config.keys();
  const bool is_silent = std::ranges::find(keys, "forced_eos_token_id") == keys.end();
  if (!bounds.has_generation_file && is_silent && bounds.usual_forced_end) {
    forced = bounds.usual_forced_end;
    if (std::ranges::find(ends, *forced) == ends.end()) {
      warnings.push_back(format_text("{} is missing, for which transformers has {}; the end token {} is forced",
          config.where("forced_eos_token_id"), *forced, ends[0]));
      forced = ends[0];
    }
  }
  const auto found = forced ? std::ranges::find(ends, *forced) : ends.begin();
  if (found == ends.end())
    throw Error("{} is {}, expected the end token {}", settings.where("forced_eos_token_id"), *forced, ends[0]);
  spec.end_id = *found;
  spec.rules.force_end = forced.has_value();
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::erase(ends, spec.end_id);
  if (ends.size() > kMaxMoreEnds) {
    throw Error(
        "{} has {} tokens, expected at most {}", settings.where("eos_token_id"), ends.size() + 1, kMaxMoreEnds + 1);
  }
  spec.rules.more_end_ids = ends;
}

// bad_words_ids spare the end tokens. suppress_tokens are applied after forced tokens, so nothing could be generated if
// they included a forced one.
void set_suppressed(const Settings& settings, uint32_t vocab_size, GenerationSpec& spec) {
  std::vector<uint32_t>& ids = spec.suppressed_ids;
  ids = banned_ids(settings, "bad_words_ids", vocab_size, spec.sequences.list);
  std::erase(ids, spec.end_id);
  for (const uint32_t end : spec.rules.more_end_ids) std::erase(ids, end);
  const std::vector<uint32_t> late = banned_ids(settings, "suppress_tokens", vocab_size, spec.sequences.list);
  const auto refuse_forced = [&](const char* key, std::optional<uint32_t> forced) {
    if (!forced || std::ranges::find(late, *forced) == late.end()) return;
    throw Error("{} has the token {}, which {} forces: nothing could be generated there; remove it from one of them",
        settings.where("suppress_tokens"), *forced, key);
  };
  refuse_forced("forced_bos_token_id", spec.forced_first_id);
  if (spec.rules.force_end) refuse_forced("forced_eos_token_id", spec.end_id);
  ids.insert(ids.end(), late.begin(), late.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Reads [[[id, ...], bias], ...]. The last of equal sequences counts.
void set_biases(const Settings& settings, uint32_t vocab_size, GenerationSpec& spec) {
  const Value* pairs = settings.find("sequence_bias");
  if (pairs == nullptr) return;
  const std::string where = settings.where("sequence_bias");
  if (!pairs->is_list()) throw Error("{} is a JSON {}, expected an array", where, pairs->type_name());
  std::map<std::vector<uint32_t>, float> biases;
  for (const Value& pair : *pairs) {
    if (!pair.is_list() || pair.size() != 2 || !pair[0].is_list() || !pair[1].is_number() ||
        std::abs(pair[1].number()) > double{kMaxBias}) {
      throw Error("{} has an element that is not [[TOKEN ID, ...], BIAS] with a bias from {} to {}", where, -kMaxBias,
          kMaxBias);
    }
    biases[token_ids(pair[0], vocab_size, where)] = static_cast<float>(pair[1].number());
  }
  for (const auto& [ids, bias] : biases) {
    if (bias == 0) continue;
    if (ids.size() == 1) spec.rules.biases[ids[0]] = bias;
    else spec.sequences.list.push_back({ids, bias});
  }
}

void set_rules(const Settings& settings, uint32_t vocab_size, GenerationSpec& spec) {
  spec.rules.renormalize = settings.home("renormalize_logits").flag_or("renormalize_logits", false);
  spec.rules.early_stopping = read_early_stopping(settings.home("early_stopping"));
  spec.rules.no_repeat_ngram = settings.count("no_repeat_ngram_size", kMaxTokens).value_or(0);
  spec.rules.repetition_penalty = static_cast<float>(
      settings.number_or("repetition_penalty", 1, double{kMinRepetitionPenalty}, double{kMaxRepetitionPenalty}));
  spec.sequences.no_repeat_source_ngram = settings.count("encoder_no_repeat_ngram_size", kMaxTokens).value_or(0);
  set_biases(settings, vocab_size, spec);
}

void set_lengths(const Settings& settings, const GenerationBounds& bounds, GenerationSpec& spec,
    std::vector<std::string>& warnings) {
  // transformers counts the start token in max_length and min_length; Whisper's max_length counts new ids only. A start
  // token and n - 1 others need n positions.
  const auto max_length = settings.count("max_length", kMaxTokens);
  const auto max_new_tokens = settings.count("max_new_tokens", kMaxTokens);
  uint32_t most = max_length.value_or(bounds.max_positions + bounds.n_counted);
  most = std::max(most, bounds.n_counted + 1) - bounds.n_counted;
  if (max_new_tokens) most = std::max(*max_new_tokens, 1u);
  if (!max_length && !max_new_tokens) {
    warnings.push_back(format_text(
        "{} is missing: texts have up to {} tokens here, the decoder's positions; transformers stops after 20",
        settings.where("max_length"), most));
  }
  if (most > bounds.max_positions) {
    warnings.push_back(
        format_text("generated texts are limited to {} tokens by the decoder's positions; the checkpoint asks for {}",
            bounds.max_positions, most));
  }
  spec.max_target_tokens = std::min(most, bounds.max_positions);
  // The end token is allowed as token number min_length or, if that is set too, after min_new_tokens others.
  const auto min_length = settings.count("min_length", kMaxTokens);
  const auto min_new_tokens = settings.count("min_new_tokens", kMaxTokens);
  spec.min_target_tokens = min_new_tokens ? *min_new_tokens + 1 : min_length.value_or(0);
  if (spec.min_target_tokens <= spec.max_target_tokens) return;
  const std::string minimum = settings.where(min_new_tokens ? "min_new_tokens" : "min_length");
  if (most > bounds.max_positions || (!max_length && !max_new_tokens)) {
    throw Error("{} is {}, but the decoder has {} positions: make it smaller", minimum,
        min_new_tokens.value_or(min_length.value_or(0)), bounds.max_positions);
  }
  throw Error(
      "{} is {}, but {} is {}: transformers would warn of it and stop after {} tokens; make the first smaller or the "
      "second larger",
      minimum, min_new_tokens.value_or(min_length.value_or(0)),
      settings.where(max_new_tokens ? "max_new_tokens" : "max_length"), max_new_tokens.value_or(max_length.value_or(0)),
      most);
}
}  // namespace

GenerationSpec hugging_face_generation(const Config& generation, const Config& config, const GenerationBounds& bounds,
    std::vector<std::string>& warnings) {
  const Config& own = bounds.has_generation_file ? generation : config;
  const Settings settings(own, config);
  const auto token = [&](const char* key) { return settings.token(key, bounds.target_vocab_size, warnings); };
  GenerationSpec spec;
  set_ends(settings, config, bounds, spec, warnings);
  spec.pad_id = token("pad_token_id");
  const auto start = token("decoder_start_token_id");
  const std::optional<uint32_t> usual_start = bounds.usual_start ? bounds.usual_start : spec.pad_id;
  if (!start && !usual_start) throw Error("{} is missing", config.where("decoder_start_token_id"));
  spec.decoder_start_id = start.value_or(usual_start.value_or(0));
  spec.forced_first_id = token("forced_bos_token_id");
  set_suppressed(settings, bounds.target_vocab_size, spec);
  const uint32_t beams = own.count_or("num_beams", 1, 1, 1000);
  if (beams > kMaxBeams)
    warnings.push_back(format_text("{} is {}; {} are used", settings.where("num_beams"), beams, kMaxBeams));
  spec.beam_size = std::min(beams, kMaxBeams);
  spec.length_penalty =
      static_cast<float>(settings.number_or("length_penalty", 1, kMinLengthPenalty, kMaxLengthPenalty));
  set_lengths(settings, bounds, spec, warnings);
  set_rules(settings, bounds.target_vocab_size, spec);
  warn_of_unsupported(own, bounds.has_generation_file, bounds.own_keys, warnings);
  if (bounds.has_generation_file) warn_of_ignored(generation, config, warnings);
  return spec;
}
}  // namespace goldcrest::converter
