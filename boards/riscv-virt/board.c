/* SPDX-License-Identifier: Apache-2.0
 *
 * QEMU's machine "virt" with a 32-bit RISC-V hart. Its parts have the interfaces of the 16550 (the console), of
 * SiFive's CLINT (the clock) and of SiFive's test finisher (the exit). Addresses: hw/riscv/virt.c of QEMU.
 */
#include "board_api.h"

#define UART_DATA (*(volatile uint8_t *)0x10000000u)
#define UART_LINE_STATUS (*(volatile uint8_t *)0x10000005u)
#define TEST_FINISHER (*(volatile uint32_t *)0x00100000u)
#define CLOCK_LOW (*(volatile uint32_t *)0x0200BFF8u)
#define CLOCK_HIGH (*(volatile uint32_t *)0x0200BFFCu)

enum { kTicksPerSecond = 10000000, kReceived = 0x01, kRoomToSend = 0x20 };

void board_init(void) {}

void uart_write_byte(uint8_t byte) {
  while ((UART_LINE_STATUS & kRoomToSend) == 0) {
  }
  UART_DATA = byte;
}

uint8_t uart_read_byte(void) {
  while ((UART_LINE_STATUS & kReceived) == 0) {
  }
  return UART_DATA;
}

const char *board_name(void) { return "riscv-virt"; }

uint32_t board_ticks_per_second(void) { return kTicksPerSecond; }

uint64_t board_ticks(void) {
  for (;;) {
    const uint32_t high = CLOCK_HIGH, low = CLOCK_LOW;
    if (high == CLOCK_HIGH) return (uint64_t)high << 32 | low;
  }
}

void board_exit(int status) {
  TEST_FINISHER = status == 0 ? 0x5555u : 0x3333u | (uint32_t)status << 16;
  for (;;) __asm__ volatile("wfi");
}
