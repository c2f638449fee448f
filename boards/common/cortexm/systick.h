/* SPDX-License-Identifier: Apache-2.0
 *
 * board_ticks from SysTick, the 24-bit timer of every Cortex-M, at the CPU's clock.
 */
#ifndef GOLDCREST_BOARDS_SYSTICK_H_
#define GOLDCREST_BOARDS_SYSTICK_H_

/* Starts the clock at zero. Its interrupt counts the overflows and must not be delayed by a whole round of 2^24 clocks.
 */
void systick_start(void);

#endif /* GOLDCREST_BOARDS_SYSTICK_H_ */
