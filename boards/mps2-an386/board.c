/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS2 with the image AN386: Cortex-M4 with FPU, 25 MHz.
 */
#include "board_api.h"
#include "common/cortexm/cmsdk_uart.h"
#include "common/cortexm/systick.h"

enum { kClockHz = 25000000 };

void board_init(void) {
  cmsdk_uart_init(0x40004000u, kClockHz);
  systick_start();
}

const char *board_name(void) { return "mps2-an386"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
