/* SPDX-License-Identifier: Apache-2.0
 *
 * A 64-bit clock: SysTick counts 24 bits down, its interrupt counts the rounds.
 */
#include <stdint.h>
#include "board_api.h"
#include "common/cortexm/exceptions.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xE000E018u)
#define INTERRUPT_CONTROL (*(volatile uint32_t *)0xE000ED04u)
#define SYSTICK_PENDING (1u << 26)
#define LARGEST 0xFFFFFFu

static volatile uint32_t rounds;

void SysTick_Handler(void);
void SysTick_Handler(void) { rounds = rounds + 1; }

void systick_start(void) {
  rounds = 0;
  SYSTICK_RELOAD = LARGEST;
  SYSTICK_VALUE = 0;
  SYSTICK_CONTROL = 7;         /* the CPU's clock, interrupt, on */
  while (SYSTICK_VALUE == 0) { /* the first clock loads it */
  }
}

uint64_t board_ticks(void) {
  for (;;) {
    const uint32_t before = rounds;
    uint32_t value = SYSTICK_VALUE;
    uint32_t full = before;
    if ((INTERRUPT_CONTROL & SYSTICK_PENDING) != 0) { /* called where the interrupt cannot come */
      value = SYSTICK_VALUE;
      ++full;
    }
    /* At 0 the interrupt may have come or not. The next clock loads the timer again. */
    if (value != 0 && rounds == before) return ((uint64_t)full << 24) + (LARGEST - value);
  }
}
