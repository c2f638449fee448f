// SPDX-License-Identifier: Apache-2.0
#include "dialects/text/languages.h"
#include <algorithm>
#include "host/text_lines.h"
#include "host/wording.h"
#include "spec/error.h"
#include "spec/format_text.h"

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
  if (!name.empty() && name != asked)
    throw Error("{} {}: the model's {} language is {}", option, in_quotes(asked), side, in_quotes(name));
  name = asked;
}

using LanguageSide = std::optional<uint32_t> Language::*;

std::vector<std::string> codes_of(const LanguagesSpec& languages, LanguageSide side) {
  std::vector<std::string> codes;
  for (const Language& entry : languages.entries)
    if (entry.*side) codes.push_back(entry.code);
  std::sort(codes.begin(), codes.end());
  return codes;
}

// The id of a side's language, by its code.
uint32_t id_of_language(
    const char* option, const std::string& code, const LanguagesSpec& languages, LanguageSide side) {
  const Language* const entry = languages.find(code);
  if (entry != nullptr && (entry->*side).has_value()) return *(entry->*side);
  const std::vector<std::string> codes = codes_of(languages, side);
  throw Error("{} {}: the model has no such language{}; it has {}", option, in_quotes(code),
      guess_languages(code, codes), list_in_quotes(codes, kMostNamed));
}

void force_target(uint32_t id, LanguagePlace place, GenerationSpec& generation) {
  if (place == LanguagePlace::kForcedFirst) generation.forced_first_id = id;
  if (place == LanguagePlace::kStart) generation.decoder_start_id = id;
  if (place == LanguagePlace::kBeforeText) generation.source_prefix.push_back(id);
}

// Fixes the sides that are named. A side that is not named stays in the table, with the checkpoint's language as its
// default; the search of a file then begins with the default or the first target.
void choose_sides(const std::string& source, const std::string& target, ModelSpec& spec) {
  LanguagesSpec& languages = spec.languages;
  GenerationSpec& generation = spec.generation;
  generation.source_prefix.insert(
      generation.source_prefix.end(), languages.introduction.begin(), languages.introduction.end());
  if (languages.source_place == LanguagePlace::kNowhere) {
    check_name("--source-lang", source, "source", spec.source_language);
  } else if (!source.empty()) {
    const uint32_t id = id_of_language("--source-lang", source, languages, &Language::source);
    const bool is_before = languages.source_place == LanguagePlace::kBeforeText;
    (is_before ? generation.source_prefix : generation.source_suffix).push_back(id);
    spec.source_language = source;
    languages.source_place = LanguagePlace::kNowhere;
  }
  if (languages.target_place == LanguagePlace::kNowhere) {
    check_name("--target-lang", target, "target", spec.target_language);
  } else if (!target.empty()) {
    force_target(
        id_of_language("--target-lang", target, languages, &Language::target), languages.target_place, generation);
    spec.target_language = target;
    languages.target_place = LanguagePlace::kNowhere;
  } else if (languages.target_place != LanguagePlace::kBeforeText) {
    const std::string code =
        spec.target_language.empty() ? codes_of(languages, &Language::target).at(0) : spec.target_language;
    force_target(
        id_of_language("--target-lang", code, languages, &Language::target), languages.target_place, generation);
  }
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

void keep_languages(const std::vector<std::string>& kept, ModelSpec& spec) {
  std::vector<Language> all = std::move(spec.languages.entries);
  const bool has_entries = !all.empty();
  if (!has_entries && spec.source_tokenizer && spec.source_tokenizer->language_codes) {
    for (uint32_t id = 0; id < spec.source_tokenizer->vocab_size; ++id) {
      const std::string code = language_of(spec.source_tokenizer->pieces[id]);
      if (!code.empty()) all.push_back({code, id, id});
    }
  }
  if (all.empty()) throw Error("--keep-languages: the model's vocabulary has no entries of languages");
  std::vector<std::string> codes;
  for (const Language& entry : all) codes.push_back(entry.code);
  for (const std::string& code : kept) {
    if (std::ranges::find(codes, code) != codes.end()) continue;
    throw Error("--keep-languages {}: the model has no such language{}; it has {}", in_quotes(code),
        guess_languages(code, codes), list_in_quotes(codes, kMostNamed));
  }
  spec.languages.entries.clear();
  for (const Language& entry : all) {
    if (std::ranges::find(kept, entry.code) != kept.end()) {
      if (has_entries) spec.languages.entries.push_back(entry);
      continue;
    }
    for (const auto& id : {entry.source, entry.target})
      if (id) spec.languages.removed.push_back(*id);
    for (std::string* name : {&spec.source_language, &spec.target_language})
      if (has_entries && *name == entry.code) name->clear();
  }
}

void choose_languages(const std::string& source, const std::string& target, ModelSpec& spec) {
  if (spec.languages.is_table()) return choose_sides(source, target, spec);
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

std::string undecided_languages(const ModelSpec& spec) {
  const LanguagesSpec& languages = spec.languages;
  const bool lacks_source = languages.source_place != LanguagePlace::kNowhere && spec.source_language.empty();
  const bool lacks_target = languages.target_place != LanguagePlace::kNowhere && spec.target_language.empty();
  if (!lacks_source && !lacks_target) return "";
  const LanguageSide side = lacks_source ? &Language::source : &Language::target;
  return format_text("{}: this model has several {} languages: {}",
      lacks_source && lacks_target ? "--source-lang and --target-lang are missing"
      : lacks_source               ? "--source-lang is missing"
                                   : "--target-lang is missing",
      lacks_source ? "source" : "target", list_in_quotes(codes_of(languages, side), kMostNamed));
}
}  // namespace goldcrest::converter
