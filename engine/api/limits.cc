// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "api/limits.h"
#include <stddef.h>
#include <string.h>
#include "api/engine.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "model/model_view.h"

namespace goldcrest {
namespace {
template <typename T> T value_or(T value, decltype(T{}) fallback) { return value != 0 ? value : fallback; }

// Without a limit by default (none: 0), numbers above the largest are none, too.
bool is_number(float value, float none, float least, float largest) {
  return value == 0.0f || (value >= least && (value <= largest || none == 0.0f));
}

int check_rules(const goldcrest_search& wanted, goldcrest_detail& detail) {
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_CHECK_##kind(field, __VA_ARGS__)
#define GOLDCREST_CHECK_FLAG(field, ...) \
  GOLDCREST_REQUIRE(wanted.field <= GOLDCREST_YES, bad, "search." #field ": not a goldcrest_choice", -1);
#define GOLDCREST_CHECK_WORD(field, type, last, ...) \
  GOLDCREST_REQUIRE(wanted.field <= last, bad, "search." #field ": not a " #type, -1);
#define GOLDCREST_CHECK_COUNT(...)
#define GOLDCREST_CHECK_NUMBER(field, none, least, largest, error, ...) \
  GOLDCREST_REQUIRE(is_number(wanted.field, none, least, largest), bad, "search." #field ": " error, -1);
#include "goldcrest/search_rules.h"
  return GOLDCREST_OK;
}

// Fills in the file's rules where the caller chose none.
void fill_rules(const goldcrest_search& file, goldcrest_search* search) {
#define GOLDCREST_RULE(kind, field, ...) search->field = value_or(search->field, file.field);
#include "goldcrest/search_rules.h"
}

// Returns whether the caller leaves all rules to the file.
[[maybe_unused]] bool leaves_rules(const goldcrest_search& search) {
  uint32_t words[(sizeof search - offsetof(goldcrest_search, renormalize)) / 4], any = 0;
  memcpy(words, &search.renormalize, sizeof words);
  for (const uint32_t word : words) any |= word;
  return any == 0;
}

// Returns 0 without a shortlist or lexicon. Caps the limit at the vocabulary's size, with which every source fits.
[[maybe_unused]] uint32_t resolve_candidates(const goldcrest_info& info, uint32_t wanted, bool lexicon) {
  const uint32_t of_file = info.limits.max_candidates;
  if (of_file == 0 && !lexicon) return 0;
  if (wanted == GOLDCREST_NO_SHORTLIST) return wanted;
  return smaller(value_or(wanted, of_file), info.target_vocab_size);
}

[[maybe_unused]] int resolve_inspection(
    const goldcrest_info& info, goldcrest_limits* limits, goldcrest_detail& detail) {
  const uint32_t known = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS;
  const uint32_t layers = info.decoder_layers < 32 ? (1u << info.decoder_layers) - 1 : GOLDCREST_ALL_LAYERS;
  if (limits->alignment_layers == GOLDCREST_ALL_LAYERS) limits->alignment_layers = layers;
  GOLDCREST_REQUIRE(
      (limits->inspection & ~known) == 0, GOLDCREST_ERROR_ARGUMENT, "limits.inspection: unknown bits", -1);
  GOLDCREST_REQUIRE((limits->alignment_layers & ~layers) == 0, GOLDCREST_ERROR_ARGUMENT,
      "limits.alignment_layers: a layer that the decoder lacks", -1);
  return GOLDCREST_OK;
}

// The file's number of prefix ids need not fit the caller's target tokens, so it is cut to them.
[[maybe_unused]] int resolve_prefix(
    const goldcrest_info& info, uint32_t wanted, goldcrest_limits* limits, goldcrest_detail& detail) {
  const uint32_t most = limits->max_target_tokens - 1;
  limits->max_prefix_tokens = value_or(wanted, smaller(info.limits.max_prefix_tokens, most));
  GOLDCREST_REQUIRE(limits->max_prefix_tokens <= most, GOLDCREST_ERROR_ARGUMENT,
      "limits.max_prefix_tokens: not below max_target_tokens", -1);
  GOLDCREST_REQUIRE(info.prompt_tokens <= most, GOLDCREST_ERROR_ARGUMENT,
      "limits.max_target_tokens: not above the model's prompt_tokens", -1);
  return GOLDCREST_OK;
}
}  // namespace

int resolve_limits(
    const goldcrest_info& info, const goldcrest_limits& wanted, goldcrest_limits* limits, goldcrest_detail& detail) {
  limits->max_source_tokens = value_or(wanted.max_source_tokens, info.limits.max_source_tokens);
  limits->max_source_bytes = wanted.max_source_bytes;
  limits->max_target_tokens = value_or(wanted.max_target_tokens, info.limits.max_target_tokens);
  limits->beam_size = value_or(wanted.beam_size, info.limits.beam_size);
  limits->batch = value_or(wanted.batch, 1);
  limits->n_best = value_or(wanted.n_best, 1);
  limits->encoder_rows = value_or(wanted.encoder_rows, info.limits.encoder_rows);
  limits->threads = value_or(wanted.threads, 1);
  limits->inspection = kHasInspection ? wanted.inspection : 0;
  limits->alignment_layers = kHasInspection ? wanted.alignment_layers : 0;
  limits->lexicon = kHasShortlist ? wanted.lexicon | info.limits.lexicon : 0;
  limits->max_candidates = kHasShortlist ? resolve_candidates(info, wanted.max_candidates, limits->lexicon != 0) : 0;
  limits->max_prefix_tokens = 0;
  limits->max_sampled = kHasSearch ? wanted.max_sampled : 0;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(limits->max_source_tokens <= info.max_source_positions, bad,
      "limits.max_source_tokens: more than the model's positions", -1);
  GOLDCREST_REQUIRE(limits->max_target_tokens <= info.max_target_positions, bad,
      "limits.max_target_tokens: more than the model's positions", -1);
  GOLDCREST_REQUIRE(limits->max_source_bytes <= kMaxSourceBytes, bad, "limits.max_source_bytes: above 16 MiB", -1);
  GOLDCREST_REQUIRE(limits->max_source_bytes == 0 || info.has_tokenizer, GOLDCREST_ERROR_UNSUPPORTED,
      "limits.max_source_bytes: the model has no tokenizer", -1);
  GOLDCREST_REQUIRE(limits->beam_size <= kMaxBeams, bad, "limits.beam_size: above 16", -1);
  GOLDCREST_REQUIRE(limits->batch <= kMaxBatch, bad, "limits.batch: above 256", -1);
  GOLDCREST_REQUIRE(limits->n_best <= limits->beam_size, bad, "limits.n_best: above beam_size", -1);
  GOLDCREST_REQUIRE(limits->encoder_rows <= kMaxEncoderRows, bad, "limits.encoder_rows: above 1024", -1);
  GOLDCREST_REQUIRE(limits->threads <= kMaxThreads, bad, "limits.threads: above 64", -1);
  GOLDCREST_REQUIRE(limits->max_sampled <= kMaxSampled, bad, "limits.max_sampled: above 256", -1);
  if constexpr (kHasPrompt) GOLDCREST_TRY(resolve_prefix(info, wanted.max_prefix_tokens, limits, detail));
  if constexpr (kHasInspection) return resolve_inspection(info, limits, detail);
  return GOLDCREST_OK;
}

int resolve_search(const goldcrest_limits& limits, const goldcrest_search& wanted, goldcrest_search* search,
    goldcrest_detail& detail) {
  const uint32_t beam_size = value_or(wanted.beam_size, limits.beam_size);
  const uint32_t max_target_tokens = value_or(wanted.max_target_tokens, limits.max_target_tokens);
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(beam_size <= limits.beam_size, bad, "search.beam_size: above the limits'", -1);
  GOLDCREST_REQUIRE(
      max_target_tokens <= limits.max_target_tokens, bad, "search.max_target_tokens: above the limits'", -1);
  GOLDCREST_REQUIRE(
      wanted.min_target_tokens <= max_target_tokens, bad, "search.min_target_tokens: above max_target_tokens", -1);
  GOLDCREST_REQUIRE(wanted.length_penalty >= kMinLengthPenalty && wanted.length_penalty <= kMaxLengthPenalty, bad,
      "search.length_penalty: outside [-2, 4]", -1);
  GOLDCREST_REQUIRE(wanted.word_penalty >= kMinWordPenalty && wanted.word_penalty <= kMaxWordPenalty, bad,
      "search.word_penalty: outside [-1024, 1024]", -1);
  const uint32_t known_flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS | GOLDCREST_SEARCH_ALL_OUTPUTS |
                               GOLDCREST_SEARCH_COARSE | GOLDCREST_SEARCH_TIMESTAMPS;
  GOLDCREST_REQUIRE((wanted.flags & ~known_flags) == 0, bad, "search.flags: unknown bits", -1);
  if constexpr (kHasSearch) GOLDCREST_TRY(check_rules(wanted, detail));
  else GOLDCREST_REQUIRE(leaves_rules(wanted), GOLDCREST_ERROR_UNSUPPORTED, "search: rules need GOLDCREST_SEARCH", -1);
  *search = wanted;
  search->beam_size = beam_size;
  search->max_target_tokens = max_target_tokens;
  return GOLDCREST_OK;
}

[[gnu::noinline]] void take_default_search(goldcrest_engine* engine) {
  goldcrest_info info;
  view_info(engine->runtime.model.file, engine->model_bytes, &info);
  goldcrest_search& options = engine->next_search;
  options = info.search;
  options.beam_size = engine->runtime.limits.beam_size;
  options.max_target_tokens = smaller(options.max_target_tokens, engine->runtime.limits.max_target_tokens);
  options.min_target_tokens = smaller(options.min_target_tokens, options.max_target_tokens);
}
}  // namespace goldcrest

using namespace goldcrest;

extern "C" int goldcrest_set_search(goldcrest_engine* engine, const goldcrest_search* search) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const bool busy = engine->state == EngineState::kEncoding || engine->state == EngineState::kDecoding;
  GOLDCREST_REQUIRE(!busy, GOLDCREST_ERROR_STATE, "set_search: a search is under way", -1);
  if (engine->options.sampling != nullptr) {
    const uint32_t wanted = search != nullptr ? search->beam_size : 0;
    GOLDCREST_TRY(need_one_beam(*engine, value_or(wanted, engine->runtime.limits.beam_size)));
  }
  if (search == nullptr) {
    take_default_search(engine);
    return GOLDCREST_OK;
  }
  const bool has_times = kHasTimestamps && engine->runtime.generation.first_timestamp != 0;
  const bool wants_times = search->flags / GOLDCREST_SEARCH_TIMESTAMPS == 1;  // with no unknown bit
  GOLDCREST_REQUIRE(
      has_times || !wants_times, GOLDCREST_ERROR_ARGUMENT, "search.flags: the file has no timestamps", -1);
  GOLDCREST_TRY(resolve_search(engine->runtime.limits, *search, &engine->next_search, detail));
  if constexpr (kHasSearch) {
    goldcrest_search file;
    view_rules(engine->runtime.model.file, &file);
    fill_rules(file, &engine->next_search);
  }
  return GOLDCREST_OK;
}
