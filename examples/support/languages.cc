// SPDX-License-Identifier: Apache-2.0
#include "languages.h"

#include <algorithm>

#include "goldcrest/languages.h"
#include "host/id_list.h"
#include "host/printable.h"
#include "host/wording.h"
#include "model/model_view.h"

namespace {

void add_code(void* context, const char* code, size_t code_bytes, int32_t) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(code, code_bytes);
}

std::string in_quotes(const std::string& text) { return '"' + goldcrest::printable(text) + '"'; }

// Describes what a user asked for: an option, what its value is, and how to see all values of a model.
struct Asked {
  const char *option, *kind, *lister;
};

std::string named(const std::vector<std::string>& languages, const char* lister) {
  constexpr size_t kMostNamed = 12;
  std::string text;
  for (size_t i = 0; i < std::min(languages.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + in_quotes(languages[i]);
  if (languages.size() > kMostNamed) text += " and " + std::to_string(languages.size() - kMostNamed) + " more" + lister;
  return text;
}

// Returns, for example: --target-lang "de": the model's target languages are "fra", "ita"
std::string refusal(const Asked& what, const std::string& asked, const std::vector<std::string>& found) {
  std::string text = std::string(what.option) + " " + in_quotes(asked) + ": the model's " + what.kind +
                     (found.size() > 1 ? "s are " : " is ");
  if (found.size() == 1 && found[0].empty()) return text + "not stated";
  return text + named(found, what.lister) + goldcrest::guess_languages(asked, found);
}

constexpr Asked kSource = {"--source-lang", "source language", ", which goldcrest-inspect lists"};
constexpr Asked kTarget = {"--target-lang", "target language", ", which goldcrest-inspect lists"};

// Returns the problem of one side: `only` is the name of its language if there is no table.
std::string side_problem(const Asked& side, const std::string& asked, std::vector<std::string> found,
                         const char* only) {
  if (found.empty()) found = {only};
  const bool is_known = asked.empty() || std::find(found.begin(), found.end(), asked) != found.end();
  return is_known ? "" : refusal(side, asked, found);
}

using ListFunction = int (*)(const void*, size_t, goldcrest_language_function, void*, goldcrest_detail*);

std::vector<std::string> listed(ListFunction list, const void* model, size_t model_bytes) {
  std::vector<std::string> codes;
  const int n = list(model, model_bytes, add_code, &codes, nullptr);
  if (n < 0) codes.clear();
  return codes;
}

// Counts the tokens of a text; 0 on an error. *first <- the first token, or -1.
size_t count_source(goldcrest_engine* engine, const std::string& text, int32_t* first) {
  const int32_t* source = nullptr;
  const int status = goldcrest_begin_text(engine, text.data(), text.size());
  const int n = status < 0 ? status : goldcrest_get_source(engine, 0, &source);
  *first = n > 0 ? source[0] : -1;
  return n < 0 ? 0 : static_cast<size_t>(n);
}

}  // namespace

std::vector<std::string> source_languages(const void* model, size_t model_bytes) {
  return listed(goldcrest_source_languages, model, model_bytes);
}

std::vector<std::string> target_languages(const void* model, size_t model_bytes) {
  return listed(goldcrest_target_languages, model, model_bytes);
}

std::string languages_problem(const void* model, size_t model_bytes, const std::string& source,
                              const std::string& target) {
  goldcrest_info info = {};
  const int status = goldcrest_model_info(model, model_bytes, &info, nullptr);
  if (status < 0) return goldcrest_status_string(status);
  const std::string problem = side_problem(kSource, source, source_languages(model, model_bytes), info.source_language);
  if (!problem.empty()) return problem;
  return side_problem(kTarget, target, target_languages(model, model_bytes), info.target_language);
}

std::string missing_language(const void* model, size_t model_bytes, const std::string& source,
                             const std::string& target) {
  goldcrest::LanguagesView table = {};
  if (!goldcrest::view_languages(model, &table)) return "";
  const std::string end = " is missing: the model has several ";
  const auto lacks = [](const goldcrest::LanguageSide& side) {
    return side.n > 0 && side.by_default == goldcrest::kNoId;
  };
  if (source.empty() && lacks(table.of_sources()))
    return "--source-lang" + end + "source languages: " + named(source_languages(model, model_bytes), kSource.lister);
  if (target.empty() && lacks(table.of_targets()))
    return "--target-lang" + end + "target languages: " + named(target_languages(model, model_bytes), kTarget.lister);
  return "";
}

bool forces_target(const void* model) {
  goldcrest::LanguagesView table = {};
  return goldcrest::view_languages(model, &table) && goldcrest::acts_on_ids(table.of_targets().place);
}

bool reads_codes(const void* model) {
  goldcrest::TokenizerView tokenizer = {};
  return goldcrest::view_tokenizer(model, &tokenizer) && tokenizer.language_codes;
}

std::string code_warning(goldcrest_engine* engine, int32_t unknown_id, bool has_code, const std::string& text) {
  const std::string code(goldcrest::leading_language_code(text));
  if (code.empty()) return "";
  int32_t first = 0, of_nothing = 0;
  const size_t n = count_source(engine, code, &first), n_of_nothing = count_source(engine, "", &of_nothing);
  const size_t n_of_code = has_code ? n_of_nothing : n_of_nothing + 1;  // which the text's code replaces
  if (n == n_of_code && first != unknown_id) return "";
  return in_quotes(code) + " is not an entry of the model's vocabulary; it is read as text";
}

int choose_first_languages(goldcrest_engine* engine, const void* model) {
  goldcrest::LanguagesView table = {};
  if (!goldcrest::view_languages(model, &table)) return GOLDCREST_OK;
  const char* names[2] = {};
  for (int i = 0; i < 2; ++i) {
    const goldcrest::LanguageSide& side = table.sides[i];
    if (side.n == 0 || side.by_default != goldcrest::kNoId) continue;
    uint32_t language = 0;
    while (side.ids[language] == goldcrest::kNoId) ++language;
    names[i] = goldcrest::view_language_code(model, language);
  }
  return goldcrest_set_languages(engine, names[0], names[1]);
}

std::string language_prompt(const void* model, size_t model_bytes, const std::string& language,
                            std::vector<int32_t>* ids) {
  ids->clear();
  std::vector<std::string> codes;
  std::vector<int32_t> entries;
  goldcrest::DetokenizerView pieces = {};
  const bool has_pieces = goldcrest::view_detokenizer(model, &pieces);
  for (uint32_t id = 0; has_pieces && id < pieces.n_pieces; ++id) {
    if (pieces.type[id] != static_cast<uint8_t>(goldcrest::PieceType::kControl)) continue;
    const std::string text(pieces.text + pieces.text_offset[id], pieces.text + pieces.text_offset[id + 1]);
    if (text.size() < 5 || text.compare(0, 2, "<|") != 0 || text.compare(text.size() - 2, 2, "|>") != 0) continue;
    codes.push_back(text.substr(2, text.size() - 4));
    entries.push_back(static_cast<int32_t>(id));
  }
  const goldcrest::GenerationView generation = goldcrest::view_generation(model);
  const uint32_t n_chosen = generation.first_choices.n > 0 ? 1 : 0;
  const uint32_t n_forced = generation.forced_first_id >= 0 ? 0 : generation.n_prompt - n_chosen;
  const Asked what = {"--language", "language", ""};
  if (codes.empty()) {
    goldcrest_info info = {};
    const int status = goldcrest_model_info(model, model_bytes, &info, nullptr);
    if (status < 0) return goldcrest_status_string(status);
    return language == info.target_language ? "" : refusal(what, language, {info.target_language});
  }
  const auto found = std::find(codes.begin(), codes.end(), language);
  if (found == codes.end()) return refusal(what, language, codes);
  ids->push_back(entries[static_cast<size_t>(found - codes.begin())]);
  for (uint32_t i = 0; i < n_forced; ++i) {
    const auto forced = static_cast<int32_t>(generation.forced_ids[i]);
    if (std::find(entries.begin(), entries.end(), forced) == entries.end()) ids->push_back(forced);
  }
  return "";
}

std::vector<int32_t> source_end(const void* model) {
  const goldcrest::GenerationView generation = goldcrest::view_generation(model);
  return {generation.source_suffix, generation.source_suffix + generation.n_suffix};
}

bool takes_sentences(const void* model) {
  using goldcrest::TokenizerKind;
  goldcrest::TokenizerView tokenizer = {};
  if (!goldcrest::view_tokenizer(model, &tokenizer)) return false;
  return tokenizer.kind != TokenizerKind::kWord && tokenizer.kind != TokenizerKind::kCharacter;
}
