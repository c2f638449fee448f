/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs from reset to the program on any Cortex-M: vector table, floating point.
 */
#include <stdint.h>

#include "common/cortexm/fault.h"
#include "common/linker_symbols.h"

#define SYSTEM_REGISTER(address) (*(volatile uint32_t *)(address))
#define VECTOR_TABLE_OFFSET SYSTEM_REGISTER(0xE000ED08u)
#define CONFIGURATION_CONTROL SYSTEM_REGISTER(0xE000ED14u)
#define COPROCESSOR_ACCESS SYSTEM_REGISTER(0xE000ED88u)

#define N_INTERRUPTS 160 /* as many as any of the boards has */

typedef void (*handler)(void);

void Reset_Handler(void);
void SysTick_Handler(void);

struct vector_table {
  void *stack_top;
  handler exceptions[15];
  handler interrupts[N_INTERRUPTS];
};

/* VTOR needs an alignment to the power of two that holds the table. */
static const struct vector_table vectors __attribute__((section(".vectors"), used, aligned(1024))) = {
    .stack_top = board_stack_top,
    .exceptions = {Reset_Handler, NMI_Handler, fault_handler, fault_handler, fault_handler, fault_handler,
                   fault_handler, 0, 0, 0, SVC_Handler, fault_handler, 0, PendSV_Handler, SysTick_Handler},
    .interrupts = {[0 ... N_INTERRUPTS - 1] = External_Handler},
};

void Reset_Handler(void) {
  VECTOR_TABLE_OFFSET = (uint32_t)&vectors;
#if defined(__ARM_FP)
  COPROCESSOR_ACCESS |= 0xFu << 20; /* CP10 and CP11: floating point and Helium */
#endif
#if defined(__ARM_ARCH_8M_MAIN__)
  __asm__ volatile("msr msplim, %0" : : "r"(board_stack_bottom));
#endif
#if defined(__ARM_FEATURE_MVE)
  CONFIGURATION_CONTROL |= 1u << 19; /* LOB: low-overhead loops keep their start */
#endif
  __asm__ volatile("dsb\n\tisb" : : : "memory");
  board_start_program();
}
