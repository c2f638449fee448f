/* SPDX-License-Identifier: Apache-2.0
 *
 * Any Cortex-M from reset to the program: vector table, floating point. Reports faults, and interrupts without a
 * handler.
 */
#include <stdbool.h>
#include <stdint.h>
#include "board_api.h"
#include "common/cortexm/exceptions.h"
#include "common/linker_symbols.h"

#define SYSTEM_REGISTER(address) (*(volatile uint32_t *)(address))
#define VECTOR_TABLE_OFFSET SYSTEM_REGISTER(0xE000ED08u)
#define CONFIGURATION_CONTROL SYSTEM_REGISTER(0xE000ED14u)
#define CONFIGURABLE_FAULT_STATUS SYSTEM_REGISTER(0xE000ED28u)
#define COPROCESSOR_ACCESS SYSTEM_REGISTER(0xE000ED88u)

#define STACK_OVERFLOW (1u << 20) /* where the CPU checks the stack's limit: Armv8-M */

#define N_INTERRUPTS 160 /* as many as any of the boards has */

/* Writes byte by byte, so that firmware does not need the C library's strlen. */
static void write_text(const char *text) {
  for (; *text != '\0'; ++text) board_write(text, 1);
}

static void write_hex(const char *name, uint32_t value) {
  char digits[8];
  for (int i = 7; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15u];
  write_text(name);
  board_write(digits, sizeof digits);
}

/* frame: the registers that the exception stored, r0 r1 r2 r3 r12 lr pc xpsr. After a stack overflow it points outside
 * of the stack. */
static void __attribute__((used, noreturn)) report_fault(const uint32_t *frame) {
  uint32_t number;
  __asm__ volatile("mrs %0, ipsr" : "=r"(number));
  const uint32_t status = CONFIGURABLE_FAULT_STATUS;
  const bool has_frame =
      (const uint8_t *)frame >= board_stack_bottom && (const uint8_t *)(frame + 8) <= board_stack_top;
  write_text("\nfault");
  write_hex(": exception ", number);
  write_hex(", status ", status);
  if (has_frame) {
    write_hex(", pc ", frame[6]);
    write_hex(", lr ", frame[5]);
  }
  if (!has_frame || (status & STACK_OVERFLOW) != 0) write_text(", the stack has overflowed");
  write_text("\n");
  board_exit(128 + (int)number);
}

/* Reports from a fresh stack. */
void __attribute__((naked)) fault_handler(void) {
  __asm__ volatile(
      "mrs r0, msp\n\t"
      "ldr r1, =board_stack_top\n\t"
      "msr msp, r1\n\t"
      "b report_fault\n\t"
      ".ltorg");
}

void __attribute__((weak, alias("fault_handler"))) NMI_Handler(void);
void __attribute__((weak, alias("fault_handler"))) SVC_Handler(void);
void __attribute__((weak, alias("fault_handler"))) PendSV_Handler(void);
void __attribute__((weak, alias("fault_handler"))) External_Handler(void);

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
