/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS3 with the image AN547: Cortex-M55 with Helium, 32 MHz, all code in the secure state.
 */
#include "board_api.h"
#include "common/cortexm/cmsdk_uart.h"
#include "common/cortexm/systick.h"

enum { kClockHz = 32000000 };

void board_init(void) {
  cmsdk_uart_init(0x59303000u, kClockHz);
  systick_start();
}

const char *board_name(void) { return "mps3-an547"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
