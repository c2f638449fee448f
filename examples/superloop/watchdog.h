/* SPDX-License-Identifier: Apache-2.0
 *
 * The watchdog of a loop: rounds, the longest one, and the end of the program if a round was too long. On your board
 * watchdog_feed reloads the counter of the real one.
 */
#ifndef GOLDCREST_EXAMPLES_WATCHDOG_H_
#define GOLDCREST_EXAMPLES_WATCHDOG_H_

#include <stdint.h>
#include "board_api.h"
#include "console_text.h"

typedef struct watchdog {
  uint64_t fed_at, longest_ticks;
  uint32_t n_rounds, deadline_ms;
} watchdog;

/* Restarts the time since the watchdog was fed. */
static inline void watchdog_start(watchdog *dog) { dog->fed_at = board_ticks(); }

/* Ends a round. A watchdog resets a board that feeds it later than its deadline; this one ends the program. */
static inline void watchdog_feed(watchdog *dog) {
  const uint64_t now = board_ticks(), elapsed = now - dog->fed_at;
  ++dog->n_rounds;
  if (elapsed > dog->longest_ticks) dog->longest_ticks = elapsed;
  if (elapsed * 1000 > (uint64_t)dog->deadline_ms * board_ticks_per_second()) {
    put_text("the watchdog was fed too late, in round ");
    put_unsigned(dog->n_rounds);
    put_text(" ");
    put_ticks(elapsed);
    put_text("\n");
    board_exit(1);
  }
  dog->fed_at = now;
}

/* Writes "the longest round took 159018 ticks, 6360 us." and a line end. */
static inline void watchdog_print_longest(const watchdog *dog) {
  put_text("the longest round took ");
  put_unsigned(dog->longest_ticks);
  put_text(" ticks, ");
  put_unsigned(dog->longest_ticks * 1000000 / board_ticks_per_second());
  put_text(" us.\n");
}

#endif /* GOLDCREST_EXAMPLES_WATCHDOG_H_ */
