// SPDX-License-Identifier: Apache-2.0
// Lists the languages of a model, and chooses those of the next sources by name.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "goldcrest/languages.h"
#include "text/languages.h"
#include "text/piece_lookup.h"

using namespace goldcrest;

namespace {
bool is_same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

void count_only(void*, const char*, size_t, int32_t) {}

// *entry <- the entry of the model's language `name`; kNoEntry if the model has only one language. Returns false if the
// model lacks the language.
bool find_target(const goldcrest_engine& engine, const char* name, const char* only, uint32_t* entry) {
  TokenizerView tokenizer;
  *entry = kNoEntry;
  if (!view_tokenizer(engine.runtime.model.file, &tokenizer) || !tokenizer.language_codes) return is_same(name, only);
  uint32_t n = 0;  // bytes of the name, counted up to one more than the longest code
  while (n <= kMaxLanguageBytes && name[n] != '\0') ++n;
  *entry = find_language(tokenizer, {reinterpret_cast<const uint8_t*>(name), n});
  return *entry != kNoEntry;
}

// Calls visit (may be null) for each language of one side of the file's table. Returns their number.
[[maybe_unused]] int visit_side(
    const void* model, const IdList& ids, goldcrest_language_function visit, void* visit_context) {
  int n = 0;
  for (uint32_t i = 0; i < ids.n; ++i) {
    if (ids.ids[i] == kNoId) continue;
    const char* const code = view_language_code(model, i);
    size_t bytes = 0;
    while (bytes < kMaxLanguageBytes && code[bytes] != '\0') ++bytes;
    if (visit != nullptr) visit(visit_context, code, bytes, static_cast<int32_t>(ids.ids[i]));
    ++n;
  }
  return n;
}

// Returns whether a name is null, or one of a side's languages; if so, *language <- its index. A model that has only
// one language on that side has the name `only`.
bool find_in_table(const void* model, const IdList& side, const char* name, const char* only, uint32_t* language) {
  if (name == nullptr) return true;
  if (side.n == 0) return is_same(name, only);
  uint32_t i = 0;
  while (i < side.n && (side.ids[i] == kNoId || !is_same(name, view_language_code(model, i)))) ++i;
  if (i < side.n) *language = i;
  return i < side.n;
}
}  // namespace

extern "C" {

int goldcrest_source_languages(const void* model, size_t model_bytes, goldcrest_language_function visit,
    void* visit_context, goldcrest_detail* detail) {
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  LanguagesView languages;
  if (!kHasText || !view_languages(model, &languages)) return 0;
  return visit_side(model, languages.of_sources(), visit, visit_context);
}

int goldcrest_target_languages(const void* model, size_t model_bytes, goldcrest_language_function visit,
    void* visit_context, goldcrest_detail* detail) {
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  if constexpr (kHasText) {
    LanguagesView languages;
    if (view_languages(model, &languages) && languages.of_targets().n > 0)
      return visit_side(model, languages.of_targets(), visit, visit_context);
  }
  TokenizerView tokenizer;
  if (!view_tokenizer(model, &tokenizer)) return 0;
  const int n = visit_languages(tokenizer, visit == nullptr ? count_only : visit, visit_context);
  GOLDCREST_REQUIRE(n >= 0, GOLDCREST_ERROR_MODEL_CORRUPT, "tokenizer: its trie is no tree", -1);
  return n;
}

int goldcrest_set_languages(goldcrest_engine* engine, const char* source, const char* target) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  goldcrest_info info;
  view_info(engine->runtime.model.file, engine->model_bytes, &info);
  LanguagesView table = {};
  const bool has_table = kHasText && view_languages(engine->runtime.model.file, &table);
  uint32_t chosen[2] = {table.of_sources().by_default, table.of_targets().by_default};
  GOLDCREST_REQUIRE(
      find_in_table(engine->runtime.model.file, table.of_sources(), source, info.source_language, &chosen[0]),
      GOLDCREST_ERROR_ARGUMENT, "source language: not the model's", -1);
  uint32_t entry = kNoEntry;
  const bool has_target = has_table ? find_in_table(engine->runtime.model.file, table.of_targets(), target,
                                          info.target_language, &chosen[1])
                                    : target == nullptr || find_target(*engine, target, info.target_language, &entry);
  GOLDCREST_REQUIRE(has_target, GOLDCREST_ERROR_ARGUMENT, "target language: the model has none of this name", -1);
  engine->language = entry;
  if (has_table) choose_languages(table, chosen, &engine->languages);
  return GOLDCREST_OK;
}

}  // extern "C"
