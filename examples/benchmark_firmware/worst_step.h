/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the longest goldcrest_step on this board, for a watchdog. The bound holds for the linked model at the limits
 * of its engine, for any source and any text.
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

/* Bounds, in ticks of board_ticks, that no step exceeds. */
typedef struct worst_step {
  uint64_t position_ticks; /* with GOLDCREST_STEP_POSITION */
  uint64_t layer_ticks;    /* with GOLDCREST_STEP_LAYER */
} worst_step;

/* *most <- the bounds of a step of such a search. Discards the engine's results and sets its search to that of
 * `wanted`. Both bounds are 0 if none can be given: with rules or a shortlist the work depends on the source, and
 * without a floating-point unit it depends on values. Returns a status. */
int measure_worst_step(goldcrest_engine *engine, const worst_search *wanted, worst_step *most);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_EXAMPLES_WORST_STEP_H_ */
