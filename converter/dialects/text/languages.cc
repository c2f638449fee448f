// SPDX-License-Identifier: Apache-2.0
#include "dialects/text/languages.h"

#include <algorithm>

#include "sources/messages/messages.h"
#include "spec/error.h"
#include "spec/id_list.h"

namespace goldcrest::converter {
namespace {

constexpr size_t kMarks = 2;  // bytes of >> and of <<
constexpr size_t kMostNamed = 12;

// Returns the code of a vocabulary's entry that is nothing but a code, else "".
std::string language_of(const Piece& piece) {
  const std::string& text = piece.text;
  const bool is_code = text.size() > 2 * kMarks && leading_language_code(text).size() == text.size();
  return is_code ? text.substr(kMarks, text.size() - 2 * kMarks) : "";
}

void check_name(const char* option, const std::string& asked, const std::string& side, std::string& name) {
  if (asked.empty()) return;
  if (!name.empty() && name != asked) {
    throw Error("{} {}: the model's {} language is {}", option, in_quotes(asked), side, in_quotes(name));
  }
  name = asked;
}

// The entry of a side's language, by its code.
const LanguageEntry& entry_of(const char* option, const std::string& side, const std::string& code,
                              const LanguagesSpec& languages) {
  std::vector<std::string> codes;
  for (const LanguageEntry& entry : languages.entries) {
    if (entry.code == code) return entry;
    codes.push_back(entry.code);
  }
  std::sort(codes.begin(), codes.end());
  if (code.empty()) {
    throw Error("{} is missing: this model has several {} languages: {}", option, side,
                list_in_quotes(codes, kMostNamed));
  }
  throw Error("{} {}: the model has no such language{}; it has {}", option, in_quotes(code), guess(code, codes),
              list_in_quotes(codes, kMostNamed));
}

// Fixes the pair of a model whose vocabulary has an entry for each language.
void choose_pair(const std::string& source, const std::string& target, ModelSpec& spec) {
  GenerationSpec& generation = spec.generation;
  if (spec.languages.source_place != SourceLanguagePlace::kNowhere) {
    if (!source.empty()) spec.source_language = source;
    const uint32_t id = entry_of("--source-lang", "source", spec.source_language, spec.languages).id;
    const bool is_before = spec.languages.source_place == SourceLanguagePlace::kBeforeText;
    (is_before ? generation.source_prefix : generation.source_suffix).push_back(id);
  }
  if (spec.languages.target_place != TargetLanguagePlace::kNowhere) {
    if (!target.empty()) spec.target_language = target;
    const uint32_t id = entry_of("--target-lang", "target", spec.target_language, spec.languages).id;
    if (spec.languages.target_place == TargetLanguagePlace::kStart) {
      generation.decoder_start_id = id;
    } else {
      generation.forced_first_id = id;
    }
  }
  spec.languages.entries.clear();
}

}  // namespace

std::vector<std::string> target_languages(const ModelSpec& spec) {
  std::vector<std::string> languages;
  if (!spec.source_tokenizer || !spec.source_tokenizer->language_codes) return languages;
  for (uint32_t id = 0; id < spec.source_tokenizer->vocab_size; ++id) {
    std::string language = language_of(spec.source_tokenizer->pieces[id]);
    if (!language.empty()) languages.push_back(std::move(language));
  }
  std::sort(languages.begin(), languages.end());
  return languages;
}

void choose_languages(const std::string& source, const std::string& target, ModelSpec& spec) {
  if (!spec.languages.entries.empty()) return choose_pair(source, target, spec);
  check_name("--source-lang", source, "source", spec.source_language);
  const std::vector<std::string> languages = target_languages(spec);
  if (languages.empty()) return check_name("--target-lang", target, "target", spec.target_language);
  if (target.empty()) return;
  TokenizerSpec& tokenizer = *spec.source_tokenizer;
  const auto end = tokenizer.pieces.begin() + tokenizer.vocab_size;
  const auto entry =
      std::find_if(tokenizer.pieces.begin(), end, [&](const Piece& piece) { return language_of(piece) == target; });
  if (entry == end) {
    throw Error("--target-lang {}: the model's target language{} {}", in_quotes(target),
                languages.size() > 1 ? "s are" : " is", list_in_quotes(languages, kMostNamed));
  }
  spec.generation.source_prefix.push_back(static_cast<uint32_t>(entry - tokenizer.pieces.begin()));
  tokenizer.language_codes = false;
  spec.target_language = target;
}

}  // namespace goldcrest::converter
