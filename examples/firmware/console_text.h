/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and numbers on a board's console, without the C library's streams.
 */
#ifndef GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_
#define GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_

#include <stddef.h>
#include <stdint.h>
#include "goldcrest/goldcrest.h"

/* Writes a string that ends with a zero. */
void put_text(const char *text);

/* Writes a number in decimal digits. */
void put_unsigned(uint64_t value);

/* Writes "(3212300 ticks, 128 ms)". */
void put_ticks(uint64_t ticks);

/* Writes "Goldcrest 0.1.0 on mps2-an500, kernels cortexm_dsp. Model 1273152 bytes, arena 113536 bytes." and a line end.
 */
void put_start(const goldcrest_engine *engine, size_t model_bytes, size_t arena_bytes);

/* Writes, for example, "init: model file corrupt: weights checksum (3)" and a line end. what: the call that failed;
 * status: a negative one of the engine; detail: may be null. */
void put_error(const char *what, int status, const goldcrest_detail *detail);

/* The same for goldcrest_init. If memory was too small, it also writes how much the config gives. */
void put_init_error(const char *what, int status, const goldcrest_config *config);

#endif /* GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_ */
