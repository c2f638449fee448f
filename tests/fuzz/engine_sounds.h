// SPDX-License-Identifier: Apache-2.0
// Chooses limits, clips of sound and images for engine_calls.cc. Keeps what an engine reads in place.
#pragma once

#include "fuzz/script.h"
#include "goldcrest/image.h"
#include "goldcrest/speech.h"
#include "goldcrest/voice.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
// Mostly a small number, which fits.
inline uint32_t limit(Script& script, uint32_t usual) {
  return script.one_in(16) ? script.word() : script.below(usual + 1);
}

inline goldcrest_limits choose_limits(Script& script) {
  goldcrest_limits limits = {};
  if (script.one_in(4)) return limits;
  limits.max_source_tokens = limit(script, 4);
  limits.max_source_bytes = limit(script, 16);
  limits.max_target_tokens = limit(script, 4);
  limits.beam_size = limit(script, 4);
  limits.batch = limit(script, 3);
  limits.n_best = limit(script, 2);
  limits.encoder_rows = limit(script, 4);
  limits.threads = limit(script, 3);
  limits.inspection = limit(script, 3);
  limits.alignment_layers = limit(script, 1);
  limits.max_candidates = limit(script, 8);
  limits.max_sampled = limit(script, 6);
  limits.lexicon = limits.encoder_rows % 2;
  if (limits.max_target_tokens <= 4 && limits.max_target_tokens > 1)
    limits.max_prefix_tokens = limits.max_target_tokens - 1;
  return limits;
}

class Sounds {
 public:
  // Begins with an image or a clip, or adds it. Returns the status.
  int give(goldcrest_engine* engine, const goldcrest_info& info, Script& script, bool fresh) {
    goldcrest_image picture = {1, 1, GOLDCREST_GREY, nullptr, 0, nullptr, 0, 0, 0, 0};
    if (goldcrest_image_bytes(&picture, engine) > 0 && !script.one_in(8)) {
      resize(engine, script, &picture);
      return fresh ? goldcrest_begin_features(engine, picture.features, picture.n)
                   : goldcrest_add_features(engine, picture.features, picture.n);
    }
    const size_t n = length(info, script);
    int status = 0;
    if (info.sample_rate == 0 || script.one_in(8)) {
      const float* const rows = features(n * info.feature_channels, script);
      status = fresh ? goldcrest_begin_features(engine, rows, n) : goldcrest_add_features(engine, rows, n);
    } else {
      const int16_t* const clip = samples(n, script);
      status = fresh ? goldcrest_begin_audio(engine, clip, n) : goldcrest_add_audio(engine, clip, n);
      if (goldcrest_voice_begin(&voice_, engine) == GOLDCREST_OK) listen(clip, n);
    }
    if (fresh && status >= 0) forget_older();
    return status;
  }

  // Turns a clip into text.
  int64_t transcribe(goldcrest_engine* engine, const goldcrest_info& info, Script& script, GuardedBuffer<char>& out) {
    const size_t n = length(info, script);
    const int64_t status = goldcrest_transcribe(engine, samples(n, script), n, out.get(), out.size());
    if (status >= 0) forget_older();
    return status;
  }

  // Changes a sample of the last clip, which the next step must find.
  void change() {
    if (!samples_.empty() && samples_.back()->size() > 0) ++*samples_.back()->begin();
  }
 private:
  // Gives an image all its rows, and one too many. Damaged settings may need more memory than an image of this size.
  void resize(goldcrest_engine* engine, Script& script, goldcrest_image* image) {
    *image = {1 + script.below(40), 1 + script.below(40), script.below(5), nullptr, 0, nullptr, 0, 0, 0, 0};
    const uint64_t bytes = std::min<uint64_t>(goldcrest_image_bytes(image, engine), 1u << 20);
    features_.push_back(std::make_unique<GuardedBuffer<float>>((bytes + 3) / 4));
    if (goldcrest_image_begin(image, engine, features_.back()->get(), bytes) != GOLDCREST_OK) return;
    GuardedBuffer<uint8_t> row(image->width * size_t{4});
    std::fill(row.begin(), row.end(), script.byte());
    for (uint32_t y = 0; y < image->height; ++y)
      if (goldcrest_image_row(image, row.get()) != GOLDCREST_OK) std::abort();
    if (goldcrest_image_row(image, row.get()) != GOLDCREST_ERROR_STATE) std::abort();
  }

  // A detector's probabilities are in 0..1, whatever its weights are.
  void listen(const int16_t* clip, size_t n) {
    int16_t step[GOLDCREST_VOICE_SAMPLES];
    for (size_t i = 0; i < GOLDCREST_VOICE_SAMPLES; ++i) step[i] = n == 0 ? int16_t{0} : clip[i % n];
    for (int i = 0; i < 3; ++i) {
      const float probability = goldcrest_voice_probability(&voice_, step);
      if (!(probability >= 0 && probability <= 1)) std::abort();
    }
  }

  // Mostly that of up to four encoder rows.
  static size_t length(const goldcrest_info& info, Script& script) {
    const size_t row = std::min(info.row_samples, 1u << 12), first = std::min(info.first_row_samples, 1u << 12);
    return script.one_in(8) ? script.below(64) : first + script.below(4) * row + script.below(3);
  }

  // The loudness of the whole clip, then bytes of the script.
  const int16_t* samples(size_t n, Script& script) {
    samples_.push_back(std::make_unique<GuardedBuffer<int16_t>>(n));
    const uint32_t shift = script.below(16), seed = script.word();
    for (size_t i = 0; i < n; ++i)
      samples_.back()->get()[i] = static_cast<int16_t>(static_cast<int16_t>(seed * (i + 1) >> 16) >> shift);
    return samples_.back()->get();
  }

  const float* features(size_t n, Script& script) {
    features_.push_back(std::make_unique<GuardedBuffer<float>>(n));
    const uint32_t seed = script.word();
    float* const values = features_.back()->get();
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(seed * (i + 1) >> 16) * 0x1p-14f - 2;
    if (n > 0 && script.one_in(4)) {  // any bits
      const uint32_t bits = script.word();
      std::memcpy(values + script.byte() % n, &bits, sizeof bits);
    }
    return values;
  }

  // A new search needs no clip but its own, the last one of its kind.
  void forget_older() {
    if (samples_.size() > 1) samples_.erase(samples_.begin(), samples_.end() - 1);
    if (features_.size() > 1) features_.erase(features_.begin(), features_.end() - 1);
  }

  goldcrest_voice voice_ = {};
  std::vector<std::unique_ptr<GuardedBuffer<int16_t>>> samples_;
  std::vector<std::unique_ptr<GuardedBuffer<float>>> features_;
};
}  // namespace goldcrest::test
