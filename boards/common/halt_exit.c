/* SPDX-License-Identifier: Apache-2.0
 *
 * board_exit for hardware: writes the status to the console and sleeps until reset.
 */
#include "board_api.h"

void board_exit(int status) {
  char text[] = "exit 000\n";
  uint32_t digits = (uint32_t)status & 255u;
  for (int i = 7; i >= 5; --i, digits /= 10) text[i] = (char)('0' + digits % 10);
  board_write(text, sizeof text - 1);
  for (;;) __asm__ volatile("wfi");
}
