/* SPDX-License-Identifier: Apache-2.0
 *
 * Goldcrest without an operating system: prints how English words are pronounced, by the C library's own output.
 */
#include <stdio.h>
#include "model_g2p_small.h"
#include "pronounce.h"

static void print(const char *text) { fputs(text, stdout); }

int main(void) { return pronounce_words(model_g2p_small, MODEL_G2P_SMALL_BYTES, NULL, print) < 0; }
