// SPDX-License-Identifier: Apache-2.0
// Takes the caller's settings of sampling, the streams of its sources, and its sequences.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "base/bounds.h"
#include "model/validate.h"

using namespace goldcrest;

namespace {
// Returns whether a stored source has a target.
[[maybe_unused]] bool has_targets(const goldcrest_engine& engine) {
  bool has = false;
  for (uint32_t i = 0; takes_targets(engine.runtime.limits) && i < engine.batch.n_sentences; ++i)
    has |= *engine.buffers.targets.of(i).n != 0;
  return has;
}

// Returns the number of the first field outside its range; -1: none. A value that is not a number is outside every
// range.
[[maybe_unused]] int32_t bad_field(const goldcrest_limits& limits, const goldcrest_sampling& wanted) {
  return !(wanted.temperature >= kMinTemperature && wanted.temperature <= kMaxTemperature) ? 0
         : wanted.top_k == 0 || wanted.top_k > limits.max_sampled                          ? 1
         : !(wanted.top_p > 0.0f && wanted.top_p <= 1.0f)                                  ? 2
         : !(wanted.min_p >= 0.0f && wanted.min_p <= 1.0f)                                 ? 3
         : wanted.n_samples > limits.n_best                                                ? 4
                                                                                           : -1;
}

[[maybe_unused]] int check_sampling(const goldcrest_engine& engine, const goldcrest_sampling& wanted) {
  goldcrest_detail& detail = *engine.detail;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  const int32_t field = bad_field(engine.runtime.limits, wanted);
  GOLDCREST_REQUIRE(field < 0, bad,
      "sampling: temperature, top_k, top_p, min_p or n_samples (index 0 to 4) is outside its range", field);
  GOLDCREST_TRY(need_one_beam(engine, engine.next_search.beam_size));
  if constexpr (kHasInspection) {
    const bool follows_targets = awaits_step(engine) && has_targets(engine);
    GOLDCREST_REQUIRE(!follows_targets, bad, "sampling: a stored source has a target", -1);
  }
  return GOLDCREST_OK;
}

int need_no_search(const goldcrest_engine& engine) {
  if (engine.state != EngineState::kEncoding && engine.state != EngineState::kDecoding) return GOLDCREST_OK;
  return fail(*engine.detail, GOLDCREST_ERROR_STATE, "set: a search is under way");
}

// Returns ERROR_UNSUPPORTED if the engine has no memory for sampling.
int need_memory(const goldcrest_engine& engine) {
  if constexpr (!kHasSearch)
    return fail(*engine.detail, GOLDCREST_ERROR_UNSUPPORTED, "sampling: this build lacks GOLDCREST_SEARCH");
  if (engine.runtime.limits.max_sampled > 0) return GOLDCREST_OK;
  return fail(*engine.detail, GOLDCREST_ERROR_UNSUPPORTED, "sampling: limits.max_sampled is 0");
}
}  // namespace

[[gnu::noinline]] int goldcrest::need_one_beam(const goldcrest_engine& engine, uint32_t beam_size) {
  if (beam_size == 1) return GOLDCREST_OK;
  return fail(*engine.detail, GOLDCREST_ERROR_ARGUMENT, "sampling: search.beam_size is not 1");
}

[[gnu::noinline]] void goldcrest::use_sequences(goldcrest_engine& engine, const goldcrest_sequences& sequences) {
  engine.sequences = sequences;
  engine.options.sequences = sequences.n != 0 || sequences.no_repeat_source_ngram != 0 ? &engine.sequences : nullptr;
}

extern "C" {

int goldcrest_set_sampling(goldcrest_engine* engine, const goldcrest_sampling* sampling) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_TRY(need_memory(*engine));
  GOLDCREST_TRY(need_no_search(*engine));
  if constexpr (kHasSearch) {
    if (sampling == nullptr) {
      engine->options.sampling = nullptr;
      return GOLDCREST_OK;
    }
    GOLDCREST_TRY(check_sampling(*engine, *sampling));
    Sampler& sampler = engine->sampling;
    static_cast<goldcrest_sampling&>(sampler) = *sampling;
    sampler.strategy = &kSeveralSamples;
    sampler.expands = false;
    if (sampling->n_samples <= 1) {
      sampler.n_samples = 1;
      sampler.strategy = &kSampling;
    }
    engine->options.sampling = &sampler;
  }
  return GOLDCREST_OK;
}

int goldcrest_set_alternatives(goldcrest_engine* engine, uint32_t n, float min_prob) {
  const goldcrest_sampling sampling = {0, 1.0f, n, 1.0f, min_prob, n, 0};
  GOLDCREST_TRY(goldcrest_set_sampling(engine, n != 0 ? &sampling : nullptr));
  if constexpr (kHasSearch) {
    engine->sampling.strategy = &kSeveralSamples;
    engine->sampling.expands = true;
  }
  return GOLDCREST_OK;
}

int goldcrest_set_stream(goldcrest_engine* engine, uint32_t sentence, uint32_t stream) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_TRY(need_memory(*engine));
  GOLDCREST_TRY(find_new_source(*engine, sentence));
  if constexpr (kHasSearch) engine->buffers.samples[size_t{sentence} * engine->buffers.beam_size].stream = stream;
  return GOLDCREST_OK;
}

int goldcrest_set_sequences(goldcrest_engine* engine, const goldcrest_sequences* sequences) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  if constexpr (!kHasSearch)
    return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, "sequences: this build lacks GOLDCREST_SEARCH");
  GOLDCREST_TRY(need_no_search(*engine));
  if (sequences == nullptr) {
    use_sequences(*engine, view_sequences(engine->runtime.model.file));
    return GOLDCREST_OK;
  }
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(sequences->ids != nullptr || sequences->n_ids == 0, bad, "sequences: null", -1);
  GOLDCREST_REQUIRE(sequences->no_repeat_source_ngram == 0 || !has_frontend(engine->runtime.model), bad,
      "sequences: a clip has no ids to repeat", -1);
  const int32_t bad_one = find_bad_sequence(*sequences, engine->runtime.model.vocab_size);
  GOLDCREST_REQUIRE(bad_one < 0, bad, "sequences: a length, an id or a bias is out of range", bad_one);
  use_sequences(*engine, *sequences);
  return GOLDCREST_OK;
}

}  // extern "C"
