// SPDX-License-Identifier: Apache-2.0
// Reads the search settings from the YAML that marian-decoder is started with (marian-dev at 2781d735:
// src/common/config_parser.cpp lists them, src/translator/beam_search.cpp and history.h use them). An allow-list, so
// that no setting is ignored silently.
#include <algorithm>
#include "base/bounds.h"
#include "dialects/marian/marian_native.h"
#include "host/wording.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
constexpr const char* kReadBySearch[] = {
    "allow-unk", "beam-size", "max-length", "max-length-factor", "models", "normalize", "vocabs", "word-penalty"};

// These change no id of a search: settings of batches, devices, precision, input and output, logs; and the shortlist's
// file.
constexpr const char* kHarmlessToSearch[] = {"alignment", "authors", "build-info", "cache-size", "cite", "clip-gemm",
    "cpu-threads", "data-threads", "devices", "dump-config", "fp16", "gemm-precision", "gemm-type",
    "ignore-model-config", "input", "interpolate-env-vars", "log", "log-level", "log-time-zone", "max-length-break",
    "maxi-batch", "maxi-batch-sort", "mini-batch", "mini-batch-words", "model-mmap", "n-best", "n-best-feature",
    "no-spm-decode", "num-devices", "optimize", "output", "port", "precision", "quiet", "quiet-translation",
    "relative-paths", "seed", "shortlist", "skip-cost", "ssplit-mode", "ssplit-prefix-file", "stat-freq", "tsv",
    "tsv-fields", "type", "version", "weights", "word-scores", "workspace"};

struct UnsupportedOption {
  const char* key;
  Value neutral;  // the value that asks for nothing, as an empty list does
};

const std::vector<UnsupportedOption>& unsupported_options() {
  static const std::vector<UnsupportedOption> kAll = {{"best-deep", false}, {"force-decode", false},
      {"max-length-crop", false}, {"no-spm-encode", false}, {"output-approx-knn", Value::list()},
      {"output-sampling", false}};
  return kAll;
}

void warn_of_other_settings(const Config& decoder, std::vector<std::string>& warnings) {
  std::vector<std::string> known(std::begin(kReadBySearch), std::end(kReadBySearch));
  known.insert(known.end(), std::begin(kHarmlessToSearch), std::end(kHarmlessToSearch));
  for (const UnsupportedOption& setting : unsupported_options()) known.push_back(setting.key);
  for (const std::string& key : decoder.keys()) {
    const Value* const value = decoder.find(key);
    if (std::ranges::find(known, key) == known.end())
      warnings.push_back(decoder.where(key) + " is not known and was ignored" + guess(key, known));
    for (const UnsupportedOption& setting : unsupported_options()) {
      const bool is_empty = value != nullptr && (value->is_list() || value->is_map()) && value->empty();
      if (key == setting.key && value != nullptr && *value != setting.neutral && !is_empty)
        warnings.push_back(decoder.where(key) + " is not supported and was ignored");
    }
  }
}
}  // namespace

void read_marian_search(const Config& decoder, GenerationSpec& generation, std::vector<std::string>& warnings) {
  const uint32_t beams = decoder.count_or("beam-size", 12, 1, 1000);  // these defaults are Marian's
  if (beams > kMaxBeams)
    warnings.push_back(format_text("{} is {}; {} are used", decoder.where("beam-size"), beams, kMaxBeams));
  generation.beam_size = std::min(beams, kMaxBeams);
  generation.length_penalty =
      static_cast<float>(decoder.number_or("normalize", 0, kMinLengthPenalty, kMaxLengthPenalty));
  generation.word_penalty = static_cast<float>(decoder.number_or("word-penalty", 0, kMinWordPenalty, kMaxWordPenalty));
  if (decoder.has("max-length-factor")) {
    RulesSpec& rules = generation.rules;
    rules.max_length_factor = static_cast<float>(
        decoder.number_or("max-length-factor", 3, double{kMinLengthFactor}, double{kMaxLengthFactor}));
    rules.force_end = false;
  }
  warn_of_other_settings(decoder, warnings);
}
}  // namespace goldcrest::converter
