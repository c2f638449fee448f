// SPDX-License-Identifier: Apache-2.0
// Lines of an evaluation as the sources of a model, and its results as texts: of text, of ids, or of names of clips.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "spec/spec.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter {
// Converts lines of text, or of ids, to the ids that a model reads and writes.

class LineEncoder {
 public:
  // `of_ids`: lines are ids (line_encoder.h). Otherwise the model must have both tokenizers.
  LineEncoder(const ModelSpec& spec, bool of_ids);

  // The results include the ids around a source, and the end id after a target. Both throw Error.
  std::vector<int32_t> source(const std::string& line) const;
  std::vector<int32_t> target(const std::string& line) const;
 private:
  // Appends the default languages of the model's table that stand at `place`.
  void put_languages(LanguagePlace place, std::vector<int32_t>& ids) const;

  const ModelSpec& spec_;
  std::optional<Segmenter> source_, target_;  // absent if lines are ids
};

// Token ids as a line of text, for models without a tokenizer: "5 3 0".

// Reads decimal numbers below `vocab_size` separated by spaces. Throws Error for any other text, and for a line without
// ids.
std::vector<int32_t> parse_ids(std::string_view line, uint32_t vocab_size);

std::string ids_text(std::span<const int32_t> ids);

// Returns the samples of a WAV file as one channel of `sample_rate` samples a second. Throws Error for any other file,
// with the command that converts it.
std::vector<int16_t> read_clip(const std::filesystem::path& path, uint32_t sample_rate);

// Returns the words of a text for word error rates: ASCII letters in lower case, no ASCII punctuation, single spaces.
std::string spoken_words(const std::string& text);
}  // namespace goldcrest::converter
