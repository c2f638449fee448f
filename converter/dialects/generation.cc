// SPDX-License-Identifier: Apache-2.0
// Hugging Face's generation settings (transformers/generation/configuration_utils.py and logits_process.py at v5.2).
#include "dialects/generation.h"

#include <algorithm>

#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr uint32_t kMostTokens = 1u << 24;

class Settings {
 public:
  Settings(const Config& generation, const Config& config) : generation_(generation), config_(config) {}

  const Config& home(const std::string& key) const { return generation_.has(key) ? generation_ : config_; }
  bool has(const std::string& key) const { return home(key).has(key); }
  std::string where(const std::string& key) const { return home(key).where(key); }

  std::optional<uint32_t> count(const std::string& key, uint32_t most) const {
    return home(key).optional_count(key, 0, most);
  }

  // One token id; of a list the first, with a warning when there are more.
  std::optional<uint32_t> token(const std::string& key, uint32_t vocab_size, std::vector<std::string>& warnings) const {
    const nlohmann::json* value = home(key).find(key);
    if (value == nullptr || !value->is_array()) return count(key, vocab_size - 1);
    if (value->empty()) return std::nullopt;
    if (value->size() > 1) warnings.push_back(where(key) + " has several tokens; only the first is used");
    return Config({{key, value->front()}}, home(key).path().string(), {}).count(key, 0, vocab_size - 1);
  }

 private:
  const Config& generation_;
  const Config& config_;
};

// The ids of a list of ids, or of a list of lists with one id each; longer lists become a warning.
std::vector<uint32_t> banned_ids(const Settings& settings, const std::string& key, uint32_t vocab_size,
                                 std::vector<std::string>& warnings) {
  std::vector<uint32_t> ids;
  const nlohmann::json* lists = settings.home(key).find(key);
  if (lists == nullptr) return ids;
  if (!lists->is_array()) throw Error("{} is a JSON {}, expected an array", settings.where(key), lists->type_name());
  for (const nlohmann::json& list : *lists) {
    if (list.is_array() && list.size() != 1) {
      warnings.push_back(settings.where(key) + " forbids a sequence of tokens, which is not supported and was ignored");
      continue;
    }
    const nlohmann::json& id = list.is_array() ? list.front() : list;
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocab_size) {
      throw Error("{} has an element that is not a token id below {}", settings.where(key), vocab_size);
    }
    ids.push_back(id.get<uint32_t>());
  }
  return ids;
}

// Settings that change the output and that the search here does not have.
void warn_of_ignored(const Settings& settings, std::vector<std::string>& warnings) {
  const std::pair<const char*, nlohmann::json> expected[] = {{"do_sample", false},
                                                             {"early_stopping", false},
                                                             {"repetition_penalty", 1.0},
                                                             {"no_repeat_ngram_size", 0},
                                                             {"num_beam_groups", 1},
                                                             {"diversity_penalty", 0.0},
                                                             {"typical_p", 1.0},
                                                             {"begin_suppress_tokens", nullptr},
                                                             {"encoder_no_repeat_ngram_size", 0}};
  for (const auto& [key, neutral] : expected) {
    const nlohmann::json* value = settings.home(key).find(key);
    if (value != nullptr && *value != neutral)
      warnings.push_back(settings.where(key) + " is not supported and was ignored");
  }
}

void set_lengths(const Settings& settings, const GenerationBounds& bounds, GenerationSpec& spec,
                 std::vector<std::string>& warnings) {
  // transformers counts the start token in max_length and min_length. A start token and n - 1 more need n positions.
  uint32_t most = settings.count("max_length", kMostTokens).value_or(bounds.max_positions + 1);
  most = std::max(most, 2u) - 1;
  if (const auto new_tokens = settings.count("max_new_tokens", kMostTokens)) most = std::max(*new_tokens, 1u);
  if (most > bounds.max_positions) {
    warnings.push_back(
        fmt::format("generated texts are limited to {} tokens by the decoder's positions; the checkpoint asks for {}",
                    bounds.max_positions, most));
  }
  spec.max_target_tokens = std::min(most, bounds.max_positions);
  // The end token is allowed as token number min_length, or after min_new_tokens others.
  uint32_t least = settings.count("min_length", kMostTokens).value_or(0);
  if (const auto new_tokens = settings.count("min_new_tokens", kMostTokens)) least = std::max(least, *new_tokens + 1);
  if (least > spec.max_target_tokens) {
    throw Error("{} asks for {} tokens, more than the limit of {}", settings.where("min_length"), least,
                spec.max_target_tokens);
  }
  spec.min_target_tokens = least;
}

}  // namespace

GenerationSpec hugging_face_generation(const Config& generation, const Config& config, const GenerationBounds& bounds,
                                       std::vector<std::string>& warnings) {
  const Settings settings(generation, config);
  const auto token = [&](const char* key) { return settings.token(key, bounds.target_vocab_size, warnings); };
  GenerationSpec spec;
  const auto end = token("eos_token_id"), pad = token("pad_token_id");
  if (!end) throw Error("{} is missing", config.where("eos_token_id"));
  spec.end_id = *end;
  spec.pad_id = pad;
  const auto start = token("decoder_start_token_id");
  if (!start && !pad) throw Error("{} is missing", config.where("decoder_start_token_id"));
  spec.decoder_start_id = start.value_or(pad.value_or(0));
  spec.forced_first_id = token("forced_bos_token_id");
  if (const auto forced = token("forced_eos_token_id"); forced && *forced != spec.end_id) {
    throw Error("{} is {}, expected the end token {}", settings.where("forced_eos_token_id"), *forced, spec.end_id);
  }
  for (const char* key : {"bad_words_ids", "suppress_tokens"}) {
    const std::vector<uint32_t> ids = banned_ids(settings, key, bounds.target_vocab_size, warnings);
    spec.suppressed_ids.insert(spec.suppressed_ids.end(), ids.begin(), ids.end());
  }
  if (pad) spec.suppressed_ids.push_back(*pad);
  std::erase(spec.suppressed_ids, spec.end_id);
  std::sort(spec.suppressed_ids.begin(), spec.suppressed_ids.end());
  spec.suppressed_ids.erase(std::unique(spec.suppressed_ids.begin(), spec.suppressed_ids.end()),
                            spec.suppressed_ids.end());
  const uint32_t beams = settings.home("num_beams").count_or("num_beams", 1, 1, 1000);
  constexpr uint32_t kMostBeams = 16;
  if (beams > kMostBeams)
    warnings.push_back(fmt::format("{} is {}; {} are used", settings.where("num_beams"), beams, kMostBeams));
  spec.beam_size = std::min(beams, kMostBeams);
  spec.length_penalty = static_cast<float>(settings.home("length_penalty").number_or("length_penalty", 1, -2, 4));
  set_lengths(settings, bounds, spec, warnings);
  warn_of_ignored(settings, warnings);
  return spec;
}

}  // namespace goldcrest::converter
