// SPDX-License-Identifier: Apache-2.0
// Takes the caller's settings of sampling, and the streams of its sources.
#include "api/engine.h"
#include "base/bounds.h"

using namespace goldcrest;

namespace {

// Returns whether a stored source has a target.
[[maybe_unused, gnu::cold]] bool has_targets(const goldcrest_engine& engine) {
  bool has = false;
  for (uint32_t i = 0; takes_targets(engine.runtime.limits) && i < engine.batch.n_sentences; ++i) {
    has |= *engine.buffers.targets.of(i).n != 0;
  }
  return has;
}

// A value that is not a number is outside every range.
[[maybe_unused, gnu::cold]] int check_sampling(const goldcrest_engine& engine, const goldcrest_sampling& wanted) {
  goldcrest_detail* detail = engine.detail;
  const goldcrest_limits& limits = engine.runtime.limits;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(wanted.temperature >= kMinTemperature && wanted.temperature <= kMaxTemperature, bad,
                    "sampling.temperature: outside [2^-10, 2^10]", -1);
  GOLDCREST_REQUIRE(wanted.top_k > 0 && wanted.top_k <= limits.max_sampled, bad,
                    "sampling.top_k: 0, or above limits.max_sampled", static_cast<int32_t>(limits.max_sampled));
  GOLDCREST_REQUIRE(wanted.top_p > 0.0f && wanted.top_p <= 1.0f, bad, "sampling.top_p: outside (0, 1]", -1);
  GOLDCREST_REQUIRE(wanted.min_p >= 0.0f && wanted.min_p <= 1.0f, bad, "sampling.min_p: outside [0, 1]", -1);
  GOLDCREST_REQUIRE(wanted.n_samples <= limits.n_best, bad, "sampling.n_samples: above limits.n_best",
                    static_cast<int32_t>(limits.n_best));
  GOLDCREST_REQUIRE(engine.options.beam_size == 1, bad, "sampling: search.beam_size is not 1", -1);
  bool follows_targets = false;
  if constexpr (kHasInspection) {
    if (engine.state == EngineState::kSourcesStored) follows_targets = has_targets(engine);
  }
  GOLDCREST_REQUIRE(!follows_targets, bad, "sampling: a stored source has a target", -1);
  return GOLDCREST_OK;
}

// Returns ERROR_UNSUPPORTED if the engine has no memory for sampling.
[[gnu::cold]] int need_memory(const goldcrest_engine& engine) {
  if constexpr (!kHasSampling)
    return fail(engine.detail, GOLDCREST_ERROR_UNSUPPORTED, "sampling: this build lacks GOLDCREST_SAMPLING");
  if (engine.runtime.limits.max_sampled > 0) return GOLDCREST_OK;
  return fail(engine.detail, GOLDCREST_ERROR_UNSUPPORTED, "sampling: limits.max_sampled is 0");
}

}  // namespace

extern "C" {

[[gnu::cold]] int goldcrest_set_sampling(goldcrest_engine* engine, const goldcrest_sampling* sampling) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  GOLDCREST_TRY(need_memory(*engine));
  GOLDCREST_REQUIRE(engine->state != EngineState::kEncoding && engine->state != EngineState::kDecoding,
                    GOLDCREST_ERROR_STATE, "set_sampling: a search is under way", -1);
  if constexpr (kHasSampling) {
    if (sampling == nullptr) {
      engine->search.sampling = nullptr;
      return GOLDCREST_OK;
    }
    GOLDCREST_TRY(check_sampling(*engine, *sampling));
    engine->sampling = *sampling;
    if (sampling->n_samples == 0) engine->sampling.n_samples = 1;
    engine->search.sampling = &engine->sampling;
  }
  return GOLDCREST_OK;
}

[[gnu::cold]] int goldcrest_set_stream(goldcrest_engine* engine, uint32_t sentence, uint32_t stream) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  GOLDCREST_TRY(need_memory(*engine));
  GOLDCREST_REQUIRE(engine->state == EngineState::kSourcesStored, GOLDCREST_ERROR_STATE,
                    "stream: begin first, and give streams before the first step", -1);
  GOLDCREST_REQUIRE(sentence < engine->batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  if constexpr (kHasSampling) sentence_view(engine->buffers, sentence).samples->stream = stream;
  return GOLDCREST_OK;
}

}  // extern "C"
