// SPDX-License-Identifier: Apache-2.0
// Takes sources that are sound: checks them and stores where they are.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "base/build_options.h"
#include "goldcrest/speech.h"
#include "layers/inputs/frontend.h"
#include "layers/inputs/voice.h"

using namespace goldcrest;

namespace {
// A clip as the caller gives it.
struct GivenClip {
  const void* items;  // int16 samples [n], or float feature rows [n, channels]
  size_t n;
  bool has_features;
};

// Returns the status of a clip: whether the model takes it. *n_rows <- its encoder rows.
[[maybe_unused]] int check_clip(
    const goldcrest_engine& engine, const FrontendView& view, const GivenClip& given, uint32_t* n_rows) {
  goldcrest_detail& detail = *engine.detail;
  const uint32_t most = engine.runtime.limits.max_source_tokens;
  const bool takes = given.has_features ? view.has_log_mel || view.sample_rate == 0 : view.sample_rate != 0;
  GOLDCREST_REQUIRE(takes, GOLDCREST_ERROR_UNSUPPORTED, "clip: samples or feature rows, not as the model takes", -1);
  const uint32_t least = view.fixed_window ? 1 : view.first_row;
  GOLDCREST_REQUIRE(given.items != nullptr && given.n >= least, GOLDCREST_ERROR_ARGUMENT,
      "clip: shorter than goldcrest_info.first_row_samples", static_cast<int32_t>(least));
  const size_t rows = view.fixed_window ? most : view.rows_of(given.n);
  GOLDCREST_REQUIRE(rows <= most, GOLDCREST_ERROR_TOO_LONG, "clip: more rows than limits.max_source_tokens",
      static_cast<int32_t>(most));
  *n_rows = static_cast<uint32_t>(rows);
  return GOLDCREST_OK;
}

// *clip <- the given clip, of which n_rows encoder rows are computed.
[[maybe_unused]] void make_clip(
    const Runtime& runtime, const FrontendView& view, const GivenClip& given, uint32_t n_rows, Clip* clip) {
  *clip = {};
  clip->address = reinterpret_cast<uintptr_t>(given.items);
  clip->n = given.n;
  clip->has_features = given.has_features ? 1 : 0;
  if (view.fixed_window) {
    const uint32_t window = n_rows * view.row_stride * (given.has_features ? 1 : view.row_samples);
    clip->n = smaller<size_t>(given.n, window);
  }
  clip->largest = kLeastFeature;
  clip->checksum = checksum_clip(runtime, view, *clip);
}

int store_clip(goldcrest_engine* engine, const GivenClip& given, bool fresh) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  if (!has_frontend(engine->runtime.model))
    return fail(*engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "audio: the model takes ids or text");
  const FrontendView view = view_frontend(engine->runtime.model.file);
  uint32_t n_rows = 0;
  GOLDCREST_TRY(check_clip(*engine, view, given, &n_rows));
  GOLDCREST_TRY(open_source(engine, fresh));
  make_clip(engine->runtime, view, given, n_rows, &engine->batch.clips[engine->batch.n_sentences]);
  return append_sentence(*engine, n_rows);
}
}  // namespace

extern "C" {

int goldcrest_begin_audio(goldcrest_engine* engine, const int16_t* samples, size_t n) {
  return store_clip(engine, {samples, n, false}, true);
}

int goldcrest_add_audio(goldcrest_engine* engine, const int16_t* samples, size_t n) {
  return store_clip(engine, {samples, n, false}, false);
}

int goldcrest_begin_features(goldcrest_engine* engine, const float* features, size_t n) {
  return store_clip(engine, {features, n, true}, true);
}

int goldcrest_add_features(goldcrest_engine* engine, const float* features, size_t n) {
  return store_clip(engine, {features, n, true}, false);
}

int goldcrest_voice_begin(goldcrest_voice* voice, const goldcrest_engine* engine) {
  if (voice == nullptr || !usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  const uint32_t weights = view_voice(engine->runtime.model.file);
  if (weights == 0) return fail(*engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "voice: the file has no detector");
  *voice = {};
  voice->kernels = engine->runtime.kernels;
  voice->weights = engine->runtime.tensor<float>(weights);
  return GOLDCREST_OK;
}

float goldcrest_voice_probability(goldcrest_voice* voice, const int16_t* samples) {
  return detect_voice(*voice, samples);
}

}  // extern "C"
