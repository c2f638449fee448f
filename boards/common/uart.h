/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a board's serial port that console.c calls. They use no interrupts.
 */
#ifndef GOLDCREST_BOARDS_UART_H_
#define GOLDCREST_BOARDS_UART_H_

#include <stdint.h>

/* Waits until the port has room, then sends. */
void uart_write_byte(uint8_t byte);

/* Waits for a byte. */
uint8_t uart_read_byte(void);

#endif /* GOLDCREST_BOARDS_UART_H_ */
