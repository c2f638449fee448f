// SPDX-License-Identifier: Apache-2.0
// Takes sources, as ids or as text: checks them and stores their ids after those of the batch.
#include "base/exact_floats.h"
#include <string.h>
#include "api/engine.h"
#include "goldcrest/tokens.h"
#include "text/piece_lookup.h"
#include "text/tokenizer.h"

using namespace goldcrest;

namespace {
// Returns where the ids of the next source are stored.
int32_t* next_ids(const goldcrest_engine& engine) { return engine.batch.ids + engine.batch.n_rows; }
}  // namespace

void goldcrest::forget_target(goldcrest_engine& engine, uint32_t sentence) {
  engine.buffers.sentences[sentence].prefix = {};
  if (kHasDrafts) engine.draft = {};
  SampleSlot* const samples = engine.buffers.samples;
  if (samples != nullptr) samples[size_t{sentence} * engine.buffers.beam_size].stream = sentence;
  if (takes_targets(engine.runtime.limits)) *engine.buffers.targets.of(sentence).n = 0;
}

int goldcrest::append_sentence(goldcrest_engine& engine, uint32_t n) {
  Batch& batch = engine.batch;
  batch.sentences[batch.n_sentences] = {batch.n_rows, n};
  batch.n_rows += n;
  engine.buffers.sentences[batch.n_sentences].language = engine.languages.target;
  forget_target(engine, batch.n_sentences);
  engine.state = EngineState::kSourcesStored;
  return static_cast<int>(batch.n_sentences++);
}

void goldcrest::choose_languages(const LanguagesView& table, const uint32_t (&indices)[2], ChosenLanguages* chosen) {
  *chosen = {};
  for (uint32_t i = 0; i < 2; ++i) {
    const LanguageSide& side = table.sides[i];
    if (side.n == 0) continue;
    if (indices[i] == kNoId) {
      chosen->lacks_for_text = true;
      chosen->lacks_for_ids = acts_on_ids(side.place);
      continue;
    }
    const uint32_t id = side.ids[indices[i]];
    if (acts_on_ids(side.place)) {
      chosen->target =
          side.place == LanguagePlace::kForcedFirst ? TargetLanguage::forced(id) : TargetLanguage::start(id);
    } else {
      const bool is_before = side.place == LanguagePlace::kBeforeText;
      chosen->ids[is_before ? chosen->n_before++ : 2] = id;
      chosen->n_behind |= !is_before;
    }
  }
}

int goldcrest::find_new_source(const goldcrest_engine& engine, uint32_t sentence) {
  goldcrest_detail& detail = *engine.detail;
  GOLDCREST_REQUIRE(awaits_step(engine), GOLDCREST_ERROR_STATE, "begin first, and call this before the first step", -1);
  GOLDCREST_REQUIRE(sentence < engine.batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  return GOLDCREST_OK;
}

int goldcrest::open_source(goldcrest_engine* engine, bool fresh) {
  if (fresh) engine_clear(*engine);
  const bool adding = engine->state == EngineState::kSourcesStored;
  if (!fresh && !adding)
    return fail(*engine->detail, GOLDCREST_ERROR_STATE, "add: begin first, and add before the first step");
  if (engine->batch.n_sentences == engine->runtime.limits.batch)
    return fail(*engine->detail, GOLDCREST_ERROR_TOO_LONG, "batch: more sources than limits.batch");
  return GOLDCREST_OK;
}

namespace {
// Refuses a source without a language that it needs.
[[gnu::noinline]] int check_languages(const goldcrest_engine& engine, bool lacks) {
  goldcrest_detail& detail = *engine.detail;
  GOLDCREST_REQUIRE(!lacks, GOLDCREST_ERROR_STATE, "languages: call goldcrest_set_languages first", -1);
  return GOLDCREST_OK;
}

// Writes n ids of languages. Returns the place after them.
int32_t* put_languages(const uint32_t* languages, uint32_t n, int32_t* ids) {
  for (uint32_t i = 0; i < n; ++i) *ids++ = static_cast<int32_t>(languages[i]);
  return ids;
}

int store_ids(goldcrest_engine* engine, const int32_t* source, size_t n, bool fresh) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  GOLDCREST_REQUIRE(!has_frontend(engine->runtime.model), GOLDCREST_ERROR_UNSUPPORTED,
      "source: the model takes clips (goldcrest/speech.h)", -1);
  GOLDCREST_REQUIRE(source != nullptr && n > 0, GOLDCREST_ERROR_ARGUMENT, "source: empty", -1);
  GOLDCREST_REQUIRE(n <= engine->runtime.limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG,
      "source: more ids than limits.max_source_tokens", static_cast<int32_t>(engine->runtime.limits.max_source_tokens));
  const uint32_t vocab_size = engine->runtime.model.encoder.embedding.vocab_size;
  for (size_t i = 0; i < n; ++i) {
    GOLDCREST_REQUIRE(source[i] >= 0 && static_cast<uint32_t>(source[i]) < vocab_size, GOLDCREST_ERROR_TOKEN_RANGE,
        "source: id outside the vocabulary", static_cast<int32_t>(i));
  }
  GOLDCREST_TRY(check_languages(*engine, engine->languages.lacks_for_ids));
  GOLDCREST_TRY(open_source(engine, fresh));
  memmove(next_ids(*engine), source, n * sizeof *source);
  return append_sentence(*engine, static_cast<uint32_t>(n));
}

// A function that is called for each token of a text; `function` is null if there is none.
struct Visit {
  goldcrest_token_function function;
  void* context;
};

// Shows n ids that no text has.
void show(const Visit& visit, const int32_t* ids, uint32_t n) {
  for (uint32_t i = 0; kHasInspection && visit.function != nullptr && i < n; ++i) {
    const goldcrest_token token = {ids[i], GOLDCREST_TOKEN_CONTROL, nullptr, 0};
    visit.function(visit.context, &token);
  }
}

// NOLINTNEXTLINE(readability-function-size): what the calls of the C API take
int store_text(goldcrest_engine* engine, const char* text, size_t text_bytes, bool fresh, const Visit& visit) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const goldcrest_limits& limits = engine->runtime.limits;
  GOLDCREST_REQUIRE(text != nullptr || text_bytes == 0, GOLDCREST_ERROR_ARGUMENT, "text: null", -1);
  GOLDCREST_REQUIRE(limits.max_source_bytes != 0, GOLDCREST_ERROR_UNSUPPORTED,
      "text: the engine was planned for token ids only (limits.max_source_bytes is 0)", -1);
  GOLDCREST_REQUIRE(text_bytes <= limits.max_source_bytes, GOLDCREST_ERROR_TOO_LONG,
      "text: more bytes than limits.max_source_bytes", static_cast<int32_t>(limits.max_source_bytes));
  const ChosenLanguages& languages = engine->languages;
  GOLDCREST_TRY(check_languages(*engine, languages.lacks_for_text));
  GOLDCREST_TRY(open_source(engine, fresh));
  TokenizerView tokenizer;
  if (!view_tokenizer(engine->runtime.model.file, &tokenizer))
    return GOLDCREST_ERROR_UNSUPPORTED;  // cannot be: limits were checked
  const GenerationView& generation = engine->runtime.generation;
  const uint32_t around = generation.n_prefix + generation.n_suffix + languages.n_before + languages.n_behind;
  const char* const too_many = "text: more tokens than limits.max_source_tokens";
  const int32_t limit = static_cast<int32_t>(limits.max_source_tokens);
  GOLDCREST_REQUIRE(around <= limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG, too_many, limit);

  int32_t* ids = next_ids(*engine);
  for (uint32_t i = 0; i < generation.n_prefix; ++i) *ids++ = static_cast<int32_t>(generation.source_prefix[i]);
  ids = put_languages(languages.ids, languages.n_before, ids);
  show(visit, next_ids(*engine), static_cast<uint32_t>(ids - next_ids(*engine)));
  const ScratchSize scratch = tokenizer_scratch(tokenizer);
  TokenizeArgs args = {};
  args.view = &tokenizer;
  args.text = text;
  args.text_bytes = text_bytes;
  args.scratch = engine->runtime.buffer<uint8_t>(engine->text_scratch);
  args.scratch_bytes = size_t{scratch.constant} + size_t{scratch.per_byte} * limits.max_source_bytes;
  args.ids = ids;
  args.max_ids = limits.max_source_tokens - around;
  args.language = engine->language == kNoEntry ? nullptr : &engine->language;
  args.visit = visit.function;
  args.visit_context = visit.context;
  const int n = tokenize(args);
  if (n < 0)
    return fail(detail, static_cast<goldcrest_status>(n), n == GOLDCREST_ERROR_TOO_LONG ? too_many : "text", limit);
  int32_t* const behind = ids += n;
  for (uint32_t i = 0; i < generation.n_suffix; ++i) *ids++ = static_cast<int32_t>(generation.source_suffix[i]);
  ids = put_languages(languages.ids + 2, languages.n_behind, ids);
  show(visit, behind, static_cast<uint32_t>(ids - behind));
  const uint32_t total = static_cast<uint32_t>(n) + around;
  GOLDCREST_REQUIRE(total > 0, GOLDCREST_ERROR_ARGUMENT, "text: no token at all", -1);
  return append_sentence(*engine, total);
}
}  // namespace

extern "C" {

int goldcrest_begin(goldcrest_engine* engine, const int32_t* source, size_t n) {
  return store_ids(engine, source, n, true);
}

int goldcrest_add(goldcrest_engine* engine, const int32_t* source, size_t n) {
  return store_ids(engine, source, n, false);
}

int goldcrest_begin_text(goldcrest_engine* engine, const char* text, size_t text_bytes) {
  return store_text(engine, text, text_bytes, true, {nullptr, nullptr});
}

int goldcrest_begin_tokens(goldcrest_engine* engine, const char* text, size_t text_bytes,
    goldcrest_token_function visit, void* visit_context) {
  if constexpr (kHasInspection) return store_text(engine, text, text_bytes, true, {visit, visit_context});
  return usable(engine)
             ? fail(*engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "tokens: this build lacks GOLDCREST_INSPECTION")
             : GOLDCREST_ERROR_ARGUMENT;
}

int goldcrest_add_text(goldcrest_engine* engine, const char* text, size_t text_bytes) {
  return store_text(engine, text, text_bytes, false, {nullptr, nullptr});
}

int goldcrest_get_source(const goldcrest_engine* engine, uint32_t sentence, const int32_t** source) {
  if (!usable(engine) || source == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  GOLDCREST_REQUIRE(!has_frontend(engine->runtime.model), GOLDCREST_ERROR_UNSUPPORTED,
      "source: the model takes clips (goldcrest/speech.h)", -1);
  GOLDCREST_REQUIRE(sentence < engine->batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  const Sentence& rows = engine->batch.sentences[sentence];
  *source = engine->batch.ids + rows.first_row;
  return static_cast<int>(rows.n_rows);
}

}  // extern "C"
