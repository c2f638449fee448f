/* SPDX-License-Identifier: Apache-2.0
 *
 * The most that one goldcrest_step takes on this board, for a watchdog: with the linked model at the limits that its
 * engine is planned for, whatever the source is and whatever the model makes of it.
 */
#ifndef GOLDCREST_EXAMPLES_WORST_STEP_H_
#define GOLDCREST_EXAMPLES_WORST_STEP_H_

#include <stddef.h>
#include <stdint.h>

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct worst_search {
  goldcrest_search search;
  uint32_t step_size;    /* goldcrest_step_size */
  const int32_t *source; /* [n_source], any ids; as many as the limits allow */
  size_t n_source;
} worst_search;

/* The ticks of board_ticks that no step of such a search exceeds. The engine's results are gone afterwards, and its
 * search is `wanted`'s. 0: there is no such number, as the search has rules, or the file a shortlist, whose work the
 * source decides, or the CPU no floating-point unit. Negative: a status. */
int64_t worst_step_ticks(goldcrest_engine *engine, const worst_search *wanted);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_EXAMPLES_WORST_STEP_H_ */
