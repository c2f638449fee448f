// SPDX-License-Identifier: Apache-2.0
// The hash of what a model hears in a clip: the voice detector's probabilities, logits, ids and text, greedy; and of
// what the line reader reads in images: feature rows, logits, ids and text. A host and every board must find the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include "base/hash.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/image.h"
#include "goldcrest/speech.h"
#include "goldcrest/voice.h"

namespace goldcrest::test {
constexpr uint64_t kLinesHash = 0xd5e196b42c3e3e16;  // the images are tests/data/lines/packed.raw

struct Heard {
  uint64_t hash;
  uint32_t n_tokens;
  char text[512];
};

// Sets a greedy search that hashes logits, and begins with the clip. Returns a status.
inline int begin_to_hear(goldcrest_engine* engine, const int16_t* samples, size_t n) {
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_HASH_LOGITS};
  const int status = goldcrest_set_search(engine, &search);
  return status < 0 ? status : goldcrest_begin_audio(engine, samples, n);
}

// Begins with an image and moves *packed after it: its width and height in two bytes each, the low one first, and grey
// pixels. Continues *hash with the feature rows. Returns a status.
inline int begin_to_read(goldcrest_engine* engine, const uint8_t** packed, uint64_t* hash) {
  alignas(float) static uint8_t memory[32768];
  goldcrest_image image = {};
  image.width = static_cast<uint32_t>((*packed)[0] | (*packed)[1] << 8);
  image.height = static_cast<uint32_t>((*packed)[2] | (*packed)[3] << 8);
  *packed += 4;
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_HASH_LOGITS};
  int status = goldcrest_set_search(engine, &search);
  if (status >= 0) status = goldcrest_image_begin(&image, engine, memory, sizeof memory);
  for (uint32_t y = 0; y < image.height && status >= 0; ++y, *packed += image.width)
    status = goldcrest_image_row(&image, *packed);
  if (status < 0) return status;
  *hash = hash_floats(*hash, image.features, image.n * image.channels);
  return goldcrest_begin_features(engine, image.features, image.n);
}

// Continues a hash with the probabilities of a clip's steps. Returns a status; ERROR_UNSUPPORTED: the file has no
// detector.
inline int hash_voice(const goldcrest_engine* engine, const int16_t* samples, size_t n, uint64_t* hash) {
  static goldcrest_voice voice;  // a board's stack does not hold it
  const int status = goldcrest_voice_begin(&voice, engine);
  if (status < 0) return status;
  for (; n >= GOLDCREST_VOICE_SAMPLES; n -= GOLDCREST_VOICE_SAMPLES, samples += GOLDCREST_VOICE_SAMPLES) {
    const float probability = goldcrest_voice_probability(&voice, samples);
    uint32_t bits;
    std::memcpy(&bits, &probability, sizeof bits);
    *hash = hash_halves(*hash, bits);
  }
  return status;
}

// Reads the result of a clip after GOLDCREST_DONE. Returns a status.
inline int heard_result(const goldcrest_engine* engine, uint32_t sentence, Heard& heard) {
  goldcrest_result result = {};
  const int status = goldcrest_get_result(engine, sentence, 0, &result);
  if (status < 0) return status;
  goldcrest_text_state state = {};
  const int64_t n =
      goldcrest_detokenize(engine, &state, result.tokens, result.n_tokens, heard.text, sizeof heard.text - 1);
  if (n < 0) return static_cast<int>(n);
  heard.text[n] = '\0';
  heard.n_tokens = result.n_tokens;
  heard.hash = hash_halves(kHashStart, result.logits_hash);
  for (uint32_t i = 0; i < result.n_tokens; ++i)
    heard.hash = hash_halves(heard.hash, static_cast<uint32_t>(result.tokens[i]));
  for (int64_t i = 0; i < n; ++i) heard.hash = hash_halves(heard.hash, static_cast<uint8_t>(heard.text[i]));
  return status;
}
}  // namespace goldcrest::test
