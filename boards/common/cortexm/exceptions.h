/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults and interrupts of a Cortex-M, and the clock that its timer makes.
 */
#ifndef GOLDCREST_BOARDS_CORTEXM_EXCEPTIONS_H_
#define GOLDCREST_BOARDS_CORTEXM_EXCEPTIONS_H_

/* Takes a fault, or an interrupt without a handler: writes the exception's number, its address and the CPU's reason to
 * the console, then ends the program with 128 + number. */
void fault_handler(void);

/* These do the same, unless the program defines its own. External_Handler takes all external interrupts. */
void NMI_Handler(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void External_Handler(void);

/* Starts the clock of board_ticks at zero. It is SysTick, the 24-bit timer of every Cortex-M, at the CPU's clock. Its
 * interrupt counts the overflows and must not be delayed by a whole round of 2^24 clocks. */
void systick_start(void);

#endif /* GOLDCREST_BOARDS_CORTEXM_EXCEPTIONS_H_ */
