// SPDX-License-Identifier: Apache-2.0
// The hash of what a model hears in a clip: the voice detector's probabilities, logits, ids and text, greedy. A host
// and every board must find the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include "base/hash.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/speech.h"
#include "goldcrest/voice.h"

namespace goldcrest::test {
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
