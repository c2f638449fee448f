/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that sections.ld defines, and the function between a CPU's start-up code and main.
 */
#ifndef GOLDCREST_BOARDS_LINKER_SYMBOLS_H_
#define GOLDCREST_BOARDS_LINKER_SYMBOLS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint32_t board_data_load[], board_data_start[], board_data_end[];
extern uint32_t board_bss_start[], board_bss_end[];
extern void (*const board_init_array_start[])(void);
extern void (*const board_init_array_end[])(void);
extern uint8_t board_stack_bottom[], board_stack_top[]; /* the stack grows down from the top */
extern uint8_t board_heap_start[], board_heap_end[];    /* what is left of DATA */

/* Sets the variables to their first values, calls constructors and main, and ends the program with main's status. It
 * has a file of its own: the compiler must move no floating-point or vector instruction to a place where its unit is
 * off. */
void __attribute__((noreturn)) board_start_program(void);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_BOARDS_LINKER_SYMBOLS_H_ */
