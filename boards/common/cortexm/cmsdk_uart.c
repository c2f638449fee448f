/* SPDX-License-Identifier: Apache-2.0
 *
 * Polling driver of the CMSDK UART.
 */
#include "common/cortexm/cmsdk_uart.h"

#include "common/uart.h"

struct cmsdk_uart {
  volatile uint32_t data, state, control, interrupt, baud_divider;
};
enum { kTransmitFull = 1, kReceiveFull = 2, kTransmitAndReceive = 3 };

static struct cmsdk_uart *uart;

void cmsdk_uart_init(uintptr_t base_address, uint32_t clock_hz) {
  uart = (struct cmsdk_uart *)base_address;
  uart->baud_divider = clock_hz / 115200;
  uart->control = kTransmitAndReceive;
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
