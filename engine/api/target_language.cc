// SPDX-License-Identifier: Apache-2.0
// Sets the languages of texts by name.
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
  if (!view_tokenizer(engine.runtime.file, &tokenizer) || !tokenizer.language_codes) return is_same(name, only);
  uint32_t n = 0;  // bytes of the name, counted up to one more than the longest code
  while (n <= kMaxLanguageBytes && name[n] != '\0') ++n;
  *entry = find_language(tokenizer, {reinterpret_cast<const uint8_t*>(name), n});
  return *entry != kNoEntry;
}

}  // namespace

extern "C" {

int goldcrest_target_languages(const void* model, size_t model_bytes, goldcrest_language_function visit,
                               void* visit_context, goldcrest_detail* detail) {
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  TokenizerView tokenizer;
  if (!view_tokenizer(model, &tokenizer)) return 0;
  const int n = visit_languages(tokenizer, visit == nullptr ? count_only : visit, visit_context);
  GOLDCREST_REQUIRE(n >= 0, GOLDCREST_ERROR_MODEL_CORRUPT, "tokenizer: its trie is no tree", -1);
  return n;
}

int goldcrest_set_languages(goldcrest_engine* engine, const char* source, const char* target) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  goldcrest_info info;
  view_info(engine->runtime.file, engine->model_bytes, &info);
  GOLDCREST_REQUIRE(source == nullptr || is_same(source, info.source_language), GOLDCREST_ERROR_ARGUMENT,
                    "source language: not the model's", -1);
  uint32_t entry = kNoEntry;
  GOLDCREST_REQUIRE(target == nullptr || find_target(*engine, target, info.target_language, &entry),
                    GOLDCREST_ERROR_ARGUMENT, "target language: the model has none of this name", -1);
  engine->language = entry;
  return GOLDCREST_OK;
}

}  // extern "C"
