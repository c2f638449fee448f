/* SPDX-License-Identifier: Apache-2.0
 *
 * Raspberry Pi Pico 2: one Cortex-M33 of the RP2350 at 150 MHz, in the secure state. The console is UART0 on GPIO 0
 * (out) and 1 (in). Addresses and bits: RP2350 datasheet.
 */
#include "board_api.h"
#include "common/cortexm/exceptions.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Writing ones to these aliases of a register sets or clears the same bits of the register. */
#define SET_BITS(address) REGISTER((address) + 0x2000u)
#define CLEAR_BITS(address) REGISTER((address) + 0x3000u)

#define CLOCKS 0x40010000u
#define CLK_REF_CONTROL (CLOCKS + 0x30u)
#define CLK_REF_SELECTED (CLOCKS + 0x38u)
#define CLK_SYS_CONTROL (CLOCKS + 0x3Cu)
#define CLK_SYS_SELECTED (CLOCKS + 0x44u)
#define CLK_PERI_CONTROL (CLOCKS + 0x48u)
#define RESETS 0x40020000u
#define RESETS_DONE 0x40020008u
#define IO_BANK0 0x40028000u
#define PADS_BANK0 0x40038000u
#define XOSC 0x40048000u
#define PLL_SYS 0x40050000u
#define UART0 0x40070000u
#define UART0_FLAGS REGISTER(UART0 + 0x18u)

enum { kResetIoBank0 = 1 << 6, kResetPadsBank0 = 1 << 9, kResetPllSys = 1 << 14, kResetUart0 = 1 << 26 };
enum { kCrystalHz = 12000000, kClockHz = 150000000, kBaud = 115200 };

/* The boot ROM searches the first 4 KiB of flash for this definition. It describes an executable for Arm cores in the
 * secure state, which starts through the vector table at its beginning (datasheet, 5.9.5.1). */
static const uint32_t image_definition[] __attribute__((section(".image_definition"), used)) = {
    0xFFFFDED3u, 0x10210142u, 0x000001FFu, 0x00000000u, 0xAB123579u};

static void wait_for_bits(uint32_t address, uint32_t bits) {
  while ((REGISTER(address) & bits) != bits) {
  }
}

static void end_reset(uint32_t units) {
  CLEAR_BITS(RESETS) = units;
  wait_for_bits(RESETS_DONE, units);
}

/* The CPU runs at 12 MHz (the crystal) * 125 / 5 / 2 = 150 MHz, the serial port at the crystal's clock. */
static void start_clocks(void) {
  REGISTER(XOSC + 0xCu) = 47; /* 1 ms to settle, in units of 256 periods */
  REGISTER(XOSC) = 0xFABu << 12 | 0xAA0u;
  wait_for_bits(XOSC + 0x4u, 1u << 31);
  REGISTER(CLK_REF_CONTROL) = 2; /* the crystal */
  wait_for_bits(CLK_REF_SELECTED, 1u << 2);
  CLEAR_BITS(CLK_SYS_CONTROL) = 1; /* the reference, while the PLL changes */
  wait_for_bits(CLK_SYS_SELECTED, 1u << 0);

  SET_BITS(RESETS) = kResetPllSys;
  end_reset(kResetPllSys);
  REGISTER(PLL_SYS) = 1;                          /* reference divider */
  REGISTER(PLL_SYS + 0x8u) = 125;                 /* feedback divider */
  CLEAR_BITS(PLL_SYS + 0x4u) = 1u << 0 | 1u << 5; /* power for PLL and oscillator */
  wait_for_bits(PLL_SYS, 1u << 31);
  REGISTER(PLL_SYS + 0xCu) = 5u << 16 | 2u << 12;
  CLEAR_BITS(PLL_SYS + 0x4u) = 1u << 3; /* power for the dividers after it */

  REGISTER(CLK_SYS_CONTROL) = 0; /* second source: the PLL */
  SET_BITS(CLK_SYS_CONTROL) = 1; /* the second source */
  wait_for_bits(CLK_SYS_SELECTED, 1u << 1);
  REGISTER(CLK_PERI_CONTROL) = 4u << 5; /* the crystal */
  SET_BITS(CLK_PERI_CONTROL) = 1u << 11;
}

static void start_console(void) {
  end_reset(kResetIoBank0 | kResetPadsBank0 | kResetUart0);
  const uint32_t divider = (8u * kCrystalHz / kBaud + 1) / 2; /* in 64ths of 16 clocks */
  REGISTER(UART0 + 0x24u) = divider >> 6;
  REGISTER(UART0 + 0x28u) = divider & 63u;
  REGISTER(UART0 + 0x2Cu) = 3u << 5 | 1u << 4;           /* 8 data bits, queues of 32 bytes */
  REGISTER(UART0 + 0x30u) = 1u << 9 | 1u << 8 | 1u << 0; /* receiver, transmitter, on */
  for (uint32_t pin = 0; pin < 2; ++pin) {
    REGISTER(IO_BANK0 + 8 * pin + 4) = 2;                     /* UART */
    SET_BITS(PADS_BANK0 + 4 * pin + 4) = 1u << 6;             /* input */
    CLEAR_BITS(PADS_BANK0 + 4 * pin + 4) = 1u << 8 | 1u << 7; /* neither isolated nor mute */
  }
}

void board_init(void) {
  start_clocks();
  start_console();
  systick_start();
}

void uart_write_byte(uint8_t byte) {
  while ((UART0_FLAGS & 1u << 5) != 0) {
  }
  REGISTER(UART0) = byte;
}

uint8_t uart_read_byte(void) {
  while ((UART0_FLAGS & 1u << 4) != 0) {
  }
  return (uint8_t)REGISTER(UART0);
}

const char *board_name(void) { return "rpi-pico2"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
