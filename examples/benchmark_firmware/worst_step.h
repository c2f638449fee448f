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
  const int32_t *source; /* [n_source], any ids; as many as the limits allow */
  size_t n_source;
} worst_search;

/* Ticks of board_ticks that no step exceeds. */
typedef struct worst_step {
  uint64_t position_ticks; /* with GOLDCREST_STEP_POSITION */
  uint64_t layer_ticks;    /* with GOLDCREST_STEP_LAYER */
} worst_step;

/* The most that a step of such a search takes. The engine's results are gone afterwards, and its search is `wanted`'s.
 * Both are 0 where there is no such number, as the search has rules, or the file a shortlist, whose work the source
 * decides, or the CPU no floating-point unit. Returns a status. */
int measure_worst_step(goldcrest_engine *engine, const worst_search *wanted, worst_step *most);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_EXAMPLES_WORST_STEP_H_ */
