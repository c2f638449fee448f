/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and numbers on a board's console, without the C library's streams.
 */
#ifndef GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_
#define GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_

#include <stdint.h>

#include "goldcrest/goldcrest.h"

/* Writes a string that ends with a zero. */
void put_text(const char *text);

/* Writes a number in decimal digits. */
void put_unsigned(uint64_t value);

/* Writes "pronounce: model file is damaged: weights checksum (3)" and a line end: who, a negative status of the engine's,
 * and its detail, which may be null. */
void put_error(const char *who, int status, const goldcrest_detail *detail);

#endif /* GOLDCREST_EXAMPLES_CONSOLE_TEXT_H_ */
