/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the example that all packages share: a model of 192 kB that pronounces English words (ARPAbet).
 */
#ifndef PRONOUNCE_H_
#define PRONOUNCE_H_

#include <stddef.h>
#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pronounces five words and prints a line for each, or the reason for having none. Takes GOLDCREST_STACK_BYTES of stack
 * and a few hundred bytes more. model: `model_bytes` bytes at GOLDCREST_ALIGN, in flash or in RAM. parallel_for: lends
 * the engine a second core, or null. The phonemes are the same. Returns 0, or an error of the engine. */
int pronounce_words(
    const void *model, size_t model_bytes, goldcrest_parallel_for parallel_for, void (*print)(const char *text));

/* Copies a model to RAM by pieces, from flash that the CPU cannot read in place: a chip of your own at an SPI bus, a
 * partition, a file.
 * read_piece: copies `n` bytes from `offset` of the model to `to`, and returns 0; another value ends the copy.
 * Returns what the last call of read_piece returned. */
int read_model_by_pieces(
    int (*read_piece)(void *context, size_t offset, void *to, size_t n), void *context, void *ram, size_t model_bytes);

#ifdef __cplusplus
}
#endif

#endif
