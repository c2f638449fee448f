/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS2+ with the image AN505: Cortex-M33 with FPU, 20 MHz, all code in the secure state.
 */
#include "board_api.h"
#include "common/cortexm/cmsdk_uart.h"
#include "common/cortexm/systick.h"

enum { kClockHz = 20000000 };

void board_init(void) {
  cmsdk_uart_init(0x50200000u, kClockHz);
  systick_start();
}

const char *board_name(void) { return "mps2-an505"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
