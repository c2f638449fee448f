// SPDX-License-Identifier: Apache-2.0
// An allow-list, so that no setting is ignored silently. transformers/generation/configuration_utils.py at v5.23 lists
// the settings, generation/utils.py what they do.
#include "dialects/hugging_face/generation_keys.h"

#include <algorithm>

#include "host/wording.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

// generation.cc reads these.
constexpr const char* kRead[] = {"bad_words_ids",        "decoder_start_token_id",
                                 "early_stopping",       "encoder_no_repeat_ngram_size",
                                 "eos_token_id",         "forced_bos_token_id",
                                 "forced_eos_token_id",  "length_penalty",
                                 "max_length",           "max_new_tokens",
                                 "min_length",           "min_new_tokens",
                                 "no_repeat_ngram_size", "num_beams",
                                 "pad_token_id",         "renormalize_logits",
                                 "repetition_penalty",   "sequence_bias",
                                 "suppress_tokens"};

// These change no id of a search without sampling (do_sample is below). They control sampling, caches, returned values,
// a second model that a caller may bring, compilation or the file itself. remove_invalid_values makes values finite
// that are finite here.
constexpr const char* kHarmless[] = {"temperature",
                                     "top_k",
                                     "top_p",
                                     "min_p",
                                     "top_h",
                                     "typical_p",
                                     "epsilon_cutoff",
                                     "eta_cutoff",
                                     "use_cache",
                                     "cache_implementation",
                                     "cache_config",
                                     "max_cache_len",
                                     "prefill_chunk_size",
                                     "num_return_sequences",
                                     "output_attentions",
                                     "output_hidden_states",
                                     "output_scores",
                                     "output_logits",
                                     "return_dict_in_generate",
                                     "bos_token_id",
                                     "is_assistant",
                                     "num_assistant_tokens",
                                     "num_assistant_tokens_schedule",
                                     "assistant_confidence_threshold",
                                     "assistant_lookbehind",
                                     "target_lookbehind",
                                     "assistant_ensemble_weight",
                                     "max_matching_ngram_size",
                                     "compile_config",
                                     "disable_compile",
                                     "continuous_batching_config",
                                     "remove_invalid_values",
                                     "transformers_version",
                                     "_commit_hash",
                                     "_from_model_config",
                                     "_original_object_hash"};

struct UnsupportedKey {
  const char* key;
  Value neutral;  // the value that asks for nothing, as null does
};

const std::vector<UnsupportedKey>& unsupported_settings() {
  static const std::vector<UnsupportedKey> kAll = {{"assistant_early_exit", nullptr},
                                                   {"begin_suppress_tokens", Value::list()},
                                                   {"constraints", nullptr},
                                                   {"diversity_penalty", 0.0},
                                                   {"do_sample", false},
                                                   {"dola_layers", nullptr},
                                                   {"encoder_repetition_penalty", 1.0},
                                                   {"exponential_decay_length_penalty", nullptr},
                                                   {"force_words_ids", nullptr},
                                                   {"guidance_scale", 1.0},
                                                   {"low_memory", false},
                                                   {"max_time", nullptr},
                                                   {"num_beam_groups", 1},
                                                   {"penalty_alpha", 0.0},
                                                   {"prompt_lookup_num_tokens", nullptr},
                                                   {"speculation_type", nullptr},
                                                   {"stop_strings", nullptr},
                                                   {"token_healing", false},
                                                   {"use_mtp", false},
                                                   {"watermarking_config", nullptr}};
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
  for (const UnsupportedKey& setting : unsupported_settings()) {
    if (!is_own(setting.key) && asks(generation, setting)) {
      warnings.push_back(generation.where(setting.key) + " is not supported and was ignored");
    }
  }
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
  for (const UnsupportedKey& setting : unsupported_settings()) {
    if (asks(config, setting)) add(setting.key);
  }
  if (ignored.empty()) return;
  warnings.push_back(format_text(
      "{}: {} ignored, as in transformers: the checkpoint has a generation_config.json, which lacks {}",
      config.path().string(), list_in_quotes(ignored, ignored.size()), ignored.size() == 1 ? "it" : "them"));
}

}  // namespace goldcrest::converter
