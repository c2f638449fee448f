/* SPDX-License-Identifier: Apache-2.0
 *
 * A RISC-V hart in machine mode, from reset to the program: stack, traps, floating point. Numbers of registers' bits:
 * The RISC-V Instruction Set Manual, volume II, version 20211203.
 */
#include <stdbool.h>
#include <stdint.h>
#include "board_api.h"
#include "common/linker_symbols.h"
#include "common/riscv/fault.h"

/* GCC 12 finds no libraries for an instruction set whose name has zicsr, so only the assembler is told. */
#if !defined(__riscv_zicsr)
__asm__(".option arch, +zicsr");
#endif

extern uint8_t board_guard_start[]; /* of linker.ld: from here to the stack there is nothing */

enum { kSoftware = 3, kTimer = 7, kExternal = 11 };

void Reset_Handler(void);
void trap_entry(void);
void report_fault(uint32_t cause, uint32_t value, uint32_t pc, uint32_t ra);
void handle_interrupt(uint32_t cause);

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

/* value: mtval, for a wrong access its address. */
void __attribute__((used, noreturn)) report_fault(uint32_t cause, uint32_t value, uint32_t pc, uint32_t ra) {
  write_text("\nfault");
  write_hex(": exception ", cause);
  write_hex(", status ", value);
  write_hex(", pc ", pc);
  write_hex(", lr ", ra);
  const bool is_access = cause == 5 || cause == 7; /* a load, a store */
  if (is_access && value >= (uintptr_t)board_guard_start && value < (uintptr_t)board_stack_bottom)
    write_text(", the stack has overflowed");
  write_text("\n");
  board_exit(128 + (int)(cause & 127u));
}

static void report_interrupt(uint32_t cause) { report_fault(cause, 0, 0, 0); }

static void without_handler_3(void) { report_interrupt(1u << 31 | kSoftware); }
static void without_handler_7(void) { report_interrupt(1u << 31 | kTimer); }
static void without_handler_11(void) { report_interrupt(1u << 31 | kExternal); }
void __attribute__((weak, alias("without_handler_3"))) Software_Handler(void);
void __attribute__((weak, alias("without_handler_7"))) Timer_Handler(void);
void __attribute__((weak, alias("without_handler_11"))) External_Handler(void);

void __attribute__((used)) handle_interrupt(uint32_t cause) {
  switch (cause & 0x7FFFFFFFu) {
    case kSoftware: Software_Handler(); return;
    case kTimer: Timer_Handler(); return;
    case kExternal: External_Handler(); return;
    default: report_interrupt(cause);
  }
}

/* The compiler saves what the function that it calls may change: in a build with an FPU the floating-point registers
 * and fcsr are among it. Faults are reported from a fresh stack, because the old one may be full. */
static void __attribute__((used, interrupt("machine"))) interrupt_entry(void) {
  uint32_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
#if defined(__riscv_flen)
  uint32_t flags;
  __asm__ volatile("frcsr %0" : "=r"(flags));
  handle_interrupt(cause);
  __asm__ volatile("fscsr %0" : : "r"(flags));
#else
  handle_interrupt(cause);
#endif
}

void __attribute__((naked, aligned(4))) trap_entry(void) {
  __asm__ volatile(
      "csrw mscratch, t0\n\t"
      "csrr t0, mcause\n\t"
      "bgez t0, 1f\n\t"
      "csrr t0, mscratch\n\t"
      "j interrupt_entry\n"
      "1:\n\t"
      "la sp, board_stack_top\n\t"
      "andi sp, sp, -16\n\t"
      "mv a0, t0\n\t"
      "csrr a1, mtval\n\t"
      "csrr a2, mepc\n\t"
      "mv a3, ra\n\t"
      "j report_fault");
}

/* Closes the memory between board_guard_start and the stack for every mode, until reset: entries 0 and 1 of the
 * physical memory protection, from the address of the first to that of the second. A hart without them traps to the
 * label. */
static void guard_stack(void) {
  enum { kLocked = 0x80, kTopOfRange = 0x08 };
  __asm__ volatile(
      "la t0, 1f\n\t"
      "csrw mtvec, t0\n\t"
      "csrw pmpaddr0, %0\n\t"
      "csrw pmpaddr1, %1\n\t"
      "csrw pmpcfg0, %2\n\t"
      ".balign 4\n"
      "1:"
      :
      : "r"((uintptr_t)board_guard_start >> 2), "r"((uintptr_t)board_stack_bottom >> 2),
      "r"((kLocked | kTopOfRange) << 8)
      : "t0", "memory");
}

static void __attribute__((used, noinline, noreturn)) start_hart(void) {
  guard_stack();
  __asm__ volatile("csrw mtvec, %0" : : "r"(trap_entry));
#if defined(__riscv_flen)
  __asm__ volatile("csrs mstatus, %0" : : "r"(1u << 13)); /* FS: the FPU is on */
  __asm__ volatile("fscsr zero");
#endif
  board_start_program();
}

/* The first instruction of the program: sections.ld places .vectors first. */
void __attribute__((naked, section(".vectors"), used)) Reset_Handler(void) {
  __asm__ volatile(
      "csrw mie, zero\n\t"
      "la sp, board_stack_top\n\t"
      "andi sp, sp, -16\n\t"
      "j start_hart");
}
