/* SPDX-License-Identifier: Apache-2.0
 *
 * The APB UART of Arm's Cortex-M System Design Kit (DDI 0479, chapter 4.3). The MPS2 and MPS3 images contain it.
 */
#ifndef GOLDCREST_BOARDS_CMSDK_UART_H_
#define GOLDCREST_BOARDS_CMSDK_UART_H_

#include <stdint.h>

/* Starts the port with 115200 baud, 8 data bits, no parity. */
void cmsdk_uart_init(uintptr_t base_address, uint32_t clock_hz);

#endif /* GOLDCREST_BOARDS_CMSDK_UART_H_ */
