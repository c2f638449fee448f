/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns samples of one rate into those of another, piece by piece, with integers only: the same samples on every
 * machine. For example, a microphone at 44,100 Hz feeds a model that takes 16,000. Firmware that does not call these
 * functions does not contain them.
 */
#ifndef GOLDCREST_RESAMPLE_H_
#define GOLDCREST_RESAMPLE_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller owns it; its fields are the functions' own. */
typedef struct goldcrest_resampler {
  uint32_t in_hz, out_hz, zeros_hz, side, waits, fraction, silence, newest;
  int16_t taps[1202]; /* a ring: 2 * side samples, for 12 samples in and one out */
} goldcrest_resampler;

/* Starts a stream. Tones up to 0.9 of half the lower rate keep amplitude and time, and those above that half are gone:
 * both within -60 dB. Errors: ERROR_ARGUMENT (resampler null; a rate outside 8,000 to 192,000 Hz; in_hz over 12 times
 * out_hz). */
GOLDCREST_MUST_CHECK int goldcrest_resample_begin(goldcrest_resampler *resampler, uint32_t in_hz, uint32_t out_hz);

/* Writes up to most_out samples to `out` and returns how many. *n: samples to read; becomes those that were read, fewer
 * only if `out` is full: then call it again with the rest. At the end call it with samples null until it returns 0. So
 * n samples give n * out_hz / in_hz, rounded up. */
size_t goldcrest_resample(
    goldcrest_resampler *resampler, const int16_t *samples, size_t *n, int16_t *out, size_t most_out);

#ifdef __cplusplus
}
#endif

#endif
