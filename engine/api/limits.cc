// SPDX-License-Identifier: Apache-2.0
#include "api/limits.h"

#include "api/engine.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"

namespace goldcrest {

namespace {

uint32_t value_or(uint32_t value, uint32_t fallback) { return value != 0 ? value : fallback; }

[[maybe_unused, gnu::cold]] int resolve_inspection(const goldcrest_info& info, goldcrest_limits* limits,
                                                   goldcrest_detail* detail) {
  const uint32_t known = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS;
  const uint32_t layers = info.decoder_layers < 32 ? (1u << info.decoder_layers) - 1 : GOLDCREST_ALL_LAYERS;
  if (limits->alignment_layers == GOLDCREST_ALL_LAYERS) limits->alignment_layers = layers;
  GOLDCREST_REQUIRE((limits->inspection & ~known) == 0, GOLDCREST_ERROR_ARGUMENT, "limits.inspection: unknown bits",
                    -1);
  GOLDCREST_REQUIRE((limits->alignment_layers & ~layers) == 0, GOLDCREST_ERROR_ARGUMENT,
                    "limits.alignment_layers: a layer that the decoder lacks", -1);
  return GOLDCREST_OK;
}

}  // namespace

[[gnu::cold]] int resolve_limits(const goldcrest_info& info, const goldcrest_limits& wanted, goldcrest_limits* limits,
                                 goldcrest_detail* detail) {
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
  if constexpr (kHasInspection) return resolve_inspection(info, limits, detail);
  return GOLDCREST_OK;
}

[[gnu::cold]] int resolve_search(const goldcrest_limits& limits, const goldcrest_search& wanted,
                                 goldcrest_search* search, goldcrest_detail* detail) {
  *search = wanted;
  search->beam_size = value_or(wanted.beam_size, limits.beam_size);
  search->max_target_tokens = value_or(wanted.max_target_tokens, limits.max_target_tokens);
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(search->beam_size <= limits.beam_size, bad, "search.beam_size: above the limits'", -1);
  GOLDCREST_REQUIRE(search->max_target_tokens <= limits.max_target_tokens, bad,
                    "search.max_target_tokens: above the limits'", -1);
  GOLDCREST_REQUIRE(search->min_target_tokens <= search->max_target_tokens, bad,
                    "search.min_target_tokens: above max_target_tokens", -1);
  GOLDCREST_REQUIRE(search->length_penalty >= kMinLengthPenalty && search->length_penalty <= kMaxLengthPenalty, bad,
                    "search.length_penalty: outside [-2, 4]", -1);
  GOLDCREST_REQUIRE(search->word_penalty >= kMinWordPenalty && search->word_penalty <= kMaxWordPenalty, bad,
                    "search.word_penalty: outside [-1024, 1024]", -1);
  const uint32_t known_flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;
  GOLDCREST_REQUIRE((search->flags & ~known_flags) == 0, bad, "search.flags: unknown bits", -1);
  return GOLDCREST_OK;
}

[[gnu::cold]] goldcrest_search default_search(const goldcrest_info& info, const goldcrest_limits& limits) {
  goldcrest_search search = info.search;
  search.beam_size = limits.beam_size;
  search.max_target_tokens = smaller(search.max_target_tokens, limits.max_target_tokens);
  search.min_target_tokens = smaller(search.min_target_tokens, search.max_target_tokens);
  return search;
}

}  // namespace goldcrest

using namespace goldcrest;

extern "C" int goldcrest_set_search(goldcrest_engine* engine, const goldcrest_search* search) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  const bool busy = engine->state == EngineState::kEncoding || engine->state == EngineState::kDecoding;
  GOLDCREST_REQUIRE(!busy, GOLDCREST_ERROR_STATE, "set_search: a search is under way", -1);
  if (search == nullptr) {
    goldcrest_info info;
    view_info(engine->runtime.file, engine->model_bytes, &info);
    engine->options = default_search(info, engine->runtime.limits);
    return GOLDCREST_OK;
  }
  goldcrest_search resolved;
  GOLDCREST_TRY(resolve_search(engine->runtime.limits, *search, &resolved, detail));
  engine->options = resolved;
  return GOLDCREST_OK;
}
