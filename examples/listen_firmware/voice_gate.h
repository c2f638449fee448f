/* SPDX-License-Identifier: Apache-2.0
 *
 * A voice gate in integers: it collects the halves of a microphone's buffer that have speech into an utterance. Models
 * write words into silence and noise, so a loop that listens needs a gate.
 */
#ifndef GOLDCREST_EXAMPLES_VOICE_GATE_H_
#define GOLDCREST_EXAMPLES_VOICE_GATE_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "goldcrest/goldcrest.h"
#include "sound_power.h"

enum {
  kSampleRate = 16000,
  kHalfSamples = 512, /* of a half of the microphone's buffer */
  kHalfMilliseconds = 1000 * kHalfSamples / kSampleRate,
  kMaxHalves = 93, /* of an utterance: 3 s */

  kGateLeastEnergy = 60 * 60, /* of a loud half, the variance of its samples: -55 dB of full scale */
  kGateLoudOverNoise = 4,
  kHalvesBefore = 8, /* that an utterance has in front of its first loud half */
  kPauseHalves = 16, /* that end an utterance */
};

typedef struct gate_utterance {
  int16_t samples[kMaxHalves * kHalfSamples];
  uint32_t n_halves;
} gate_utterance;

/* Begins with zeros, and max_halves. */
typedef struct voice_gate {
  uint32_t max_halves; /* of an utterance */
  uint32_t noise;      /* the energy of halves without speech; it rises slowly and falls at once */
  uint32_t n_quiet;    /* halves since the last loud one */
  bool has_heard, speaks;
} voice_gate;

/* Returns the halves of the longest utterance that fits the buffer and a model with this many encoder rows. */
static inline uint32_t longest_utterance(const goldcrest_info *info, uint32_t n_rows) {
  const uint32_t n_halves = (info->first_row_samples + n_rows * info->row_samples - 1) / kHalfSamples;
  return n_halves < (uint32_t)kMaxHalves ? n_halves : (uint32_t)kMaxHalves;
}

/* Adds a half, samples [kHalfSamples], to the utterance. Returns whether the utterance has ended; the next call needs
 * another one without halves. */
static inline bool gate_add(voice_gate *gate, gate_utterance *heard, const int16_t *samples) {
  const uint32_t energy = (uint32_t)(sound_power(samples, kHalfSamples) / ((uint32_t)kHalfSamples * kHalfSamples));
  gate->noise = !gate->has_heard || energy < gate->noise ? energy : gate->noise + gate->noise / 32 + 1;
  gate->has_heard = true;
  const bool is_loud = energy >= (uint32_t)kGateLeastEnergy &&
                       (energy / kGateLoudOverNoise >= gate->noise || energy >= (uint32_t)SOUND_POWER_CLIPPED);
  gate->speaks = gate->speaks || is_loud;
  gate->n_quiet = is_loud ? 0 : gate->n_quiet + 1;
  if (!gate->speaks && heard->n_halves == kHalvesBefore) { /* forgets the oldest half */
    --heard->n_halves;
    memmove(heard->samples, heard->samples + kHalfSamples, sizeof(int16_t) * kHalfSamples * heard->n_halves);
  }
  memcpy(heard->samples + heard->n_halves * kHalfSamples, samples, sizeof(int16_t) * kHalfSamples);
  ++heard->n_halves;
  const bool has_ended = gate->speaks && (gate->n_quiet == kPauseHalves || heard->n_halves == gate->max_halves);
  if (has_ended) gate->speaks = false;
  return has_ended;
}

#endif /* GOLDCREST_EXAMPLES_VOICE_GATE_H_ */
