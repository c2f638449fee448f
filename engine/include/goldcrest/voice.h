/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells speech from other sound, with the detector of a speech model's file: Silero's, version 6, which
 * `goldcrest-convert --voice` puts there. It works in the caller's memory and gives the same numbers on every machine.
 *
 * Feed it all sound of a stream, GOLDCREST_VOICE_SAMPLES at a time. It takes near silence for speech, so compare the
 * loudness as well: measure the variance of the samples, since recorders add a constant.
 */
#ifndef GOLDCREST_VOICE_H_
#define GOLDCREST_VOICE_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GOLDCREST_VOICE_SAMPLES 512u /* 32 ms at the 16,000 Hz that the detector takes */

/* The caller owns it; its fields are the functions' own. */
typedef struct goldcrest_voice {
  const void *kernels, *weights;
  float cell[128], hidden[128];
  int16_t sound[64 + GOLDCREST_VOICE_SAMPLES]; /* the last 64 of the call before, then those of this one */
  float scratch[2400];
} goldcrest_voice;

/* Starts a stream with the detector of the engine's file. The engine must outlive the stream; it may search meanwhile,
 * also on another thread. Errors: ERROR_ARGUMENT (voice or engine null), ERROR_UNSUPPORTED (the file has no detector,
 * or the build no GOLDCREST_SPEECH). */
GOLDCREST_MUST_CHECK int goldcrest_voice_begin(goldcrest_voice *voice, const goldcrest_engine *engine);

/* Returns how likely the GOLDCREST_VOICE_SAMPLES samples are speech, 0 to 1. The stream must have begun. */
float goldcrest_voice_probability(goldcrest_voice *voice, const int16_t *samples);

#ifdef __cplusplus
}
#endif

#endif
