// SPDX-License-Identifier: Apache-2.0
#include "evaluate/line_encoder.h"
#include <utility>
#include "host/printable.h"
#include "host/speech/wav.h"
#include "host/text_lines.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
LineEncoder::LineEncoder(const ModelSpec& spec, bool of_ids) : spec_(spec) {
  if (of_ids) return;
  source_.emplace(*spec.source_tokenizer);
  target_.emplace(*spec.target_tokenizer);
}

void LineEncoder::put_languages(LanguagePlace place, std::vector<int32_t>& ids) const {
  const LanguagesSpec& languages = spec_.languages;
  const Language* const source = languages.find(spec_.source_language);
  const Language* const target = languages.find(spec_.target_language);
  if (languages.source_place == place && source != nullptr) ids.push_back(static_cast<int32_t>(source->source.value()));
  if (languages.target_place == place && target != nullptr) ids.push_back(static_cast<int32_t>(target->target.value()));
}

std::vector<int32_t> LineEncoder::source(const std::string& line) const {
  if (!source_) return parse_ids(line, spec_.encoder.embedding->rows);
  const GenerationSpec& generation = spec_.generation;
  std::vector<int32_t> ids(generation.source_prefix.begin(), generation.source_prefix.end());
  put_languages(LanguagePlace::kBeforeText, ids);
  const std::vector<int32_t> text = source_->encode(line);
  ids.insert(ids.end(), text.begin(), text.end());
  ids.insert(ids.end(), generation.source_suffix.begin(), generation.source_suffix.end());
  put_languages(LanguagePlace::kBehindText, ids);
  return ids;
}

std::vector<int32_t> LineEncoder::target(const std::string& line) const {
  if (!target_) return parse_ids(line, spec_.decoder.embedding->rows);
  std::vector<int32_t> ids = target_->encode(line);
  ids.push_back(static_cast<int32_t>(spec_.generation.end_id));
  return ids;
}

std::vector<int32_t> parse_ids(std::string_view line, uint32_t vocab_size) {
  constexpr size_t kMostShown = 20;
  ParsedIds list = read_id_list(line, vocab_size);
  if (!list.bad.empty()) {
    throw Error("'{}' is not a token id; expected numbers below {}, separated by spaces",
        printable(list.bad.substr(0, kMostShown)), vocab_size);
  }
  if (list.ids.empty()) throw Error("no token id; expected numbers below {}, separated by spaces", vocab_size);
  return std::move(list.ids);
}

std::string ids_text(std::span<const int32_t> ids) { return join_text(ids, " "); }

std::vector<int16_t> read_clip(const std::filesystem::path& path, uint32_t sample_rate) {
  std::vector<int16_t> samples;
  const std::string problem = host::read_wav(path.string(), sample_rate, &samples);
  if (!problem.empty()) throw Error("{}: {}", path.string(), problem);
  return samples;
}

std::string spoken_words(const std::string& text) {
  std::string words;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z', is_digit = c >= '0' && c <= '9';
    const bool is_letter = is_upper || (c >= 'a' && c <= 'z') || (static_cast<uint8_t>(c) & 0x80) != 0;
    if (is_letter || is_digit) words += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if ((c == ' ' || c == '\t' || c == '-') && !words.empty() && words.back() != ' ') words += ' ';
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}
}  // namespace goldcrest::converter
