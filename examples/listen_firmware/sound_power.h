/* SPDX-License-Identifier: Apache-2.0
 *
 * The measure of voice gates, for programs and firmware: how loud some samples are, in integers.
 */
#ifndef GOLDCREST_EXAMPLES_SOUND_POWER_H_
#define GOLDCREST_EXAMPLES_SOUND_POWER_H_

#include <stdint.h>

/* Frames of more power are clipped: 0.6 of full scale, where a sine has 0.5. They are loud whatever the noise is. */
#define SOUND_POWER_CLIPPED (0.6 * 32768 * 32768)

/* Returns the variance of n samples, at most 32,768, times n * n: a microphone's constant offset makes no sound. */
static inline uint64_t sound_power(const int16_t *samples, uint32_t n) {
  int64_t sum = 0;
  uint64_t squares = 0;
  for (uint32_t i = 0; i < n; ++i) {
    sum += samples[i];
    squares += (uint64_t)((int64_t)samples[i] * samples[i]);
  }
  return n * squares - (uint64_t)(sum * sum);
}

#endif /* GOLDCREST_EXAMPLES_SOUND_POWER_H_ */
