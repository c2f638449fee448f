/* SPDX-License-Identifier: Apache-2.0
 *
 * An Arm MPS2 or MPS3 image: SysTick, and the APB UART of Arm's Cortex-M System Design Kit (DDI 0479, chapter 4.3),
 * polled. goldcrest_mps_board (boards.cmake) defines BOARD_NAME, MPS_CLOCK_HZ and MPS_UART, the port's address.
 */
#include "board_api.h"
#include "common/cortexm/exceptions.h"

struct cmsdk_uart {
  volatile uint32_t data, state, control, interrupt, baud_divider;
};
enum { kTransmitFull = 1, kReceiveFull = 2, kTransmitAndReceive = 3 };

static struct cmsdk_uart *const uart = (struct cmsdk_uart *)MPS_UART;

void board_init(void) {
  uart->baud_divider = MPS_CLOCK_HZ / 115200;
  uart->control = kTransmitAndReceive;
  systick_start();
}

void uart_write_byte(uint8_t byte) {
  while ((uart->state & kTransmitFull) != 0) {
  }
  uart->data = byte;
}

uint8_t uart_read_byte(void) {
  while ((uart->state & kReceiveFull) == 0) {
  }
  return (uint8_t)uart->data;
}

const char *board_name(void) { return BOARD_NAME; }

uint32_t board_ticks_per_second(void) { return MPS_CLOCK_HZ; }
