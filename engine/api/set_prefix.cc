// SPDX-License-Identifier: Apache-2.0
// Takes the prefixes and drafts of results, and returns the tokens of a result that are certain already.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "decoding/search/hypotheses.h"
#include "goldcrest/decoding.h"

using namespace goldcrest;

namespace {
// Returns how many tokens all live hypotheses share: up to the last position at which they have the same slot.
uint32_t count_shared(const SentenceView& view, uint32_t position) {
  const uint32_t n_live = view.state->n_live;
  if (n_live == 1) return position;
  for (uint32_t t = position - 1; t > 0; --t) {  // several are live after the first position only
    const uint8_t* const slots = view.ancestor + size_t{t} * view.beam_size;
    uint32_t b = 1;
    while (b < n_live && slots[b] == slots[0]) ++b;
    if (b == n_live) return t;
  }
  return 0;
}
}  // namespace

extern "C" {

// NOLINTNEXTLINE(readability-function-size): the C API's parameters
int goldcrest_set_prefix(goldcrest_engine* engine, uint32_t sentence, const int32_t* ids, size_t n, uint32_t flags) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  if constexpr (!kHasPrompt)
    return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, "prefix: this build lacks GOLDCREST_PROMPT");
  const Runtime& runtime = engine->runtime;
  GOLDCREST_REQUIRE(ids != nullptr || n == 0, bad, "prefix: null", -1);
  constexpr uint32_t kBehind = GOLDCREST_PREFIX_BEHIND_PROMPT, kStart = GOLDCREST_PREFIX_REPLACES_START;
  const bool is_known = (flags & ~(GOLDCREST_PREFIX_IN_LENGTHS | kBehind | kStart)) == 0;
  GOLDCREST_REQUIRE(is_known && (flags & (kBehind | kStart)) != (kBehind | kStart), bad, "prefix: unknown flags", -1);
  GOLDCREST_TRY(find_new_source(*engine, sentence));
  GOLDCREST_REQUIRE(n <= runtime.limits.max_prefix_tokens, GOLDCREST_ERROR_TOO_LONG,
      "prefix: more ids than limits.max_prefix_tokens", static_cast<int32_t>(runtime.limits.max_prefix_tokens));
  const uint32_t n_before = (flags & GOLDCREST_PREFIX_BEHIND_PROMPT) != 0 ? runtime.generation.n_prompt : 0;
  const uint32_t n_ids = static_cast<uint32_t>(n);
  GOLDCREST_REQUIRE(n_before + n_ids < runtime.limits.max_target_tokens, GOLDCREST_ERROR_TOO_LONG,
      "prefix: limits.max_target_tokens leaves no position behind it",
      static_cast<int32_t>(runtime.limits.max_target_tokens));
  for (uint32_t i = 0; i < n_ids; ++i) {
    const int32_t index = static_cast<int32_t>(i);
    GOLDCREST_REQUIRE(static_cast<uint32_t>(ids[i]) < runtime.model.vocab_size, GOLDCREST_ERROR_TOKEN_RANGE,
        "prefix: id outside the vocabulary", index);
    GOLDCREST_REQUIRE(!is_end(runtime.generation, ids[i]), bad, "prefix: an end id", index);
  }
  SentenceState& state = engine->buffers.sentences[sentence];
  const uint32_t n_start = n > 0 && (flags & kStart) != 0 ? 1 : 0;
  if (n_start > 0) state.language = TargetLanguage::start(static_cast<uint32_t>(ids[0]));
  int32_t* const stored = engine->buffers.prefixes.of(sentence);
  for (uint32_t i = n_start; i < n_ids; ++i) stored[i - n_start] = ids[i];
  state.prefix = {n_ids - n_start, flags & ~kStart};
  return GOLDCREST_OK;
}

int goldcrest_set_draft(goldcrest_engine* engine, const int32_t* ids, size_t n) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  if constexpr (!kHasDrafts)
    return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, "draft: this build lacks GOLDCREST_PROMPT, or is firmware");
  GOLDCREST_REQUIRE(ids != nullptr || n == 0, GOLDCREST_ERROR_ARGUMENT, "draft: null", -1);
  GOLDCREST_TRY(find_new_source(*engine, 0));
  GOLDCREST_REQUIRE(n <= INT32_MAX, GOLDCREST_ERROR_TOO_LONG, "draft: more than 2^31 - 1 ids", -1);
  GOLDCREST_REQUIRE(engine->buffers.n_slots > 1 || n == 0, GOLDCREST_ERROR_ARGUMENT,
      "draft: with limits.batch and limits.beam_size 1 there is no row to check it", -1);
  for (size_t i = 0; i < n; ++i) {
    GOLDCREST_REQUIRE(static_cast<uint32_t>(ids[i]) < engine->runtime.model.vocab_size, GOLDCREST_ERROR_TOKEN_RANGE,
        "draft: id outside the vocabulary", static_cast<int32_t>(i));
  }
  engine->draft = {ids, static_cast<uint32_t>(n), 0, 0, 0};
  return GOLDCREST_OK;
}

int goldcrest_get_agreed(const goldcrest_engine* engine, uint32_t sentence, int32_t* ids, size_t capacity) {
  if (!usable(engine) || (ids == nullptr && capacity > 0)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  GOLDCREST_REQUIRE(sentence < engine->batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  if (engine->state < EngineState::kDecoding) return 0;
  const SentenceView view = sentence_view(engine->buffers, sentence);
  const uint32_t position = engine->step.position;
  const Past past = view.past_of(0, position);
  const Hypothesis& best = *view.hypotheses;
  const int32_t* const finished = view.hypothesis_tokens + size_t{best.storage} * view.target_tokens;
  bool is_done = view.state->n_live == 0, has_finished = view.state->n_finished > 0;
  const bool has_samples = draws_several(engine->options);
  // Sample 0 is in slot 0 while it lives. Its result has rank 0.
  if (has_samples) is_done = has_finished = is_done || view.samples->sample != 0;
  const uint32_t n_live = is_done ? best.n_tokens : has_samples ? position : count_shared(view, position);
  uint32_t n = 0;
  for (; n < n_live; ++n) {
    const int32_t token = is_done ? finished[n] : past.token_at(n + 1);
    if (has_finished && (n == best.n_tokens || token != finished[n])) break;
    GOLDCREST_REQUIRE(n < capacity, GOLDCREST_ERROR_TRUNCATED, "agreed: more ids than capacity", -1);
    ids[n] = token;
  }
  return static_cast<int>(n);
}

}  // extern "C"
