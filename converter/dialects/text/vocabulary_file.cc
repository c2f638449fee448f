// SPDX-License-Identifier: Apache-2.0
// Vocabularies as checkpoints store them: an object or a list in JSON or YAML, or a text with one entry per line.
#include "dialects/text/vocabulary_file.h"
#include <algorithm>
#include <vector>
#include "base/bounds.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "sources/values/json_text.h"
#include "sources/values/yaml_text.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
void set_text(Vocabulary& vocabulary, uint64_t id, const std::string& text) {
  if (id >= vocabulary.id_to_text.size()) {
    throw Error("{}: {} has id {}, expected less than the embedding's {} rows", vocabulary.where, in_quotes(text), id,
        vocabulary.id_to_text.size());
  }
  if (text.empty()) throw Error("{}: id {} has an empty text", vocabulary.where, id);
  std::string& place = vocabulary.id_to_text[id];
  if (!place.empty())
    throw Error("{}: {} and {} have the same id {}", vocabulary.where, in_quotes(place), in_quotes(text), id);
  place = text;
}

Vocabulary empty_vocabulary(uint32_t n_ids, const std::string& where) {
  Vocabulary vocabulary;
  vocabulary.where = where;
  vocabulary.id_to_text.resize(n_ids);
  return vocabulary;
}

Vocabulary vocabulary_of_lines(const std::string& content, uint32_t n_ids, const std::string& where) {
  Vocabulary vocabulary = empty_vocabulary(n_ids, where);
  for (size_t at = 0, id = 0; at < content.size(); ++id) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string line = content.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    set_text(vocabulary, id, line);
    at = end + 1;
  }
  return vocabulary;
}
}  // namespace

Vocabulary vocabulary_of_json(const Value& json, uint32_t n_ids, const std::string& where) {
  Vocabulary vocabulary = empty_vocabulary(n_ids, where);
  if (json.is_list()) {
    for (size_t id = 0; id < json.size(); ++id) {
      if (!json[id].is_text()) throw Error("{}: id {} is a JSON {}, expected a text", where, id, json[id].type_name());
      if (!json[id].text().empty()) set_text(vocabulary, id, json[id].text());  // Whisper's base has an unused id
    }
  } else if (json.is_map()) {
    for (const auto& [text, id] : json.members()) {
      if (!id.is_natural()) throw Error("{}: the id of {} is not a non-negative integer", where, in_quotes(text));
      set_text(vocabulary, id.natural(), text);
    }
  } else {
    throw Error(
        "{}: found a JSON {}, expected an object from text to id or an array of texts", where, json.type_name());
  }
  return vocabulary;
}

Vocabulary read_vocabulary(const std::filesystem::path& path, uint32_t n_ids) {
  return parse_vocabulary(read_small_file(path, kMaxVocabularyBytes), path, n_ids);
}

Vocabulary parse_vocabulary(const std::string& content, const std::filesystem::path& path, uint32_t n_ids) {
  if (path.extension() == ".yml" || path.extension() == ".yaml") {
    const YamlBounds bounds = {kMaxVocabularyBytes, uint64_t{n_ids} + 1, 1};  // one more: the mapping
    return vocabulary_of_json(parse_yaml(content, bounds, path.string()), n_ids, path.string());
  }
  return path.extension() == ".json" ? vocabulary_of_json(parse_json(content, 2, path.string()), n_ids, path.string())
                                     : vocabulary_of_lines(content, n_ids, path.string());
}

bool is_sentencepiece_name(const std::string& name) { return name.ends_with(".spm") || name.ends_with(".model"); }

bool is_source_and_target(const std::string& source, const std::string& target) {
  const auto has = [](const std::string& name, std::initializer_list<const char*> words) {
    return std::any_of(
        words.begin(), words.end(), [&](const char* word) { return name.find(word) != std::string::npos; });
  };
  return has(source, {"src", "source"}) && has(target, {"trg", "tgt", "target"});
}

uint64_t count_entries(const std::filesystem::path& path) {
  if (is_sentencepiece_name(path.string())) return read_sentencepiece_model(path).pieces.size();
  const std::string content = read_small_file(path, kMaxVocabularyBytes);
  if (path.extension() == ".json") {
    const Value json = parse_json(content, 2, path.string());
    uint64_t entries = json.is_list() ? json.size() : 0;
    if (!json.is_map()) return entries;
    for (const auto& [text, id] : json.members())
      if (id.is_natural() && id.natural() < kMaxVocabulary) entries = std::max(entries, id.natural() + 1);
    return entries;
  }
  const auto line_ends = static_cast<uint64_t>(std::count(content.begin(), content.end(), '\n'));
  return line_ends + (content.empty() || content.ends_with('\n') ? 0 : 1);
}

std::optional<uint32_t> find_id(const Vocabulary& vocabulary, const std::string& text) {
  const std::vector<std::string>& texts = vocabulary.id_to_text;
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found == texts.end() || text.empty()) return std::nullopt;
  return static_cast<uint32_t>(found - texts.begin());
}

uint32_t require_id(const Vocabulary& vocabulary, const std::string& text, const std::string& role) {
  const auto found = find_id(vocabulary, text);
  if (!found) throw Error("{}: has no entry {}, {}", vocabulary.where, in_quotes(text), role);
  return *found;
}

bool is_special(const Vocabulary& vocabulary, uint32_t id) {
  const std::string& text = vocabulary.id_to_text[id];
  const std::vector<uint32_t>& control = vocabulary.control_ids;
  return text.empty() || id == vocabulary.unknown_id || (text.starts_with(">>") && text.ends_with("<<")) ||
         std::find(control.begin(), control.end(), id) != control.end();
}

size_t count_gaps(const Vocabulary& vocabulary) {
  return static_cast<size_t>(std::count(vocabulary.id_to_text.begin(), vocabulary.id_to_text.end(), std::string()));
}
}  // namespace goldcrest::converter
