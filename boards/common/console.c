/* SPDX-License-Identifier: Apache-2.0
 *
 * The console over a serial port: echo, backspace and line ends as terminals send them. The end of a program on
 * hardware.
 */
#include <stdbool.h>
#include "board_api.h"

enum { kEndOfInput = 0x04, kBackspace = 0x08, kDelete = 0x7F };

void board_write(const char *text, size_t n) {
  for (size_t i = 0; i < n; ++i) uart_write_byte((uint8_t)text[i]);
}

/* Returns the length without the last UTF-8 character. */
static size_t without_last_character(const char *line, size_t n) {
  while (n > 0 && ((uint8_t)line[n - 1] & 0xC0u) == 0x80u) --n;
  return n > 0 ? n - 1 : 0;
}

int board_read_line(char *line, size_t line_bytes) {
  static bool ended, after_return;
  size_t n = 0;
  bool too_long = line_bytes == 0;
  while (!ended) {
    const uint8_t byte = uart_read_byte();
    const bool second_of_pair = after_return && byte == '\n';
    after_return = byte == '\r';
    if (second_of_pair) continue;
    if (byte == '\r' || byte == '\n') {
      board_write("\n", 1);
      break;
    }
    if (byte == kEndOfInput) {
      ended = true;
    } else if (byte == kBackspace || byte == kDelete) {
      if (n > 0) board_write("\b \b", 3);
      n = without_last_character(line, n);
    } else if (n + 1 < line_bytes) {
      line[n++] = (char)byte;
      board_write((const char *)&byte, 1);
    } else {
      too_long = true;
    }
  }
  if (line_bytes > 0) line[too_long ? 0 : n] = '\0';
  if (too_long) return -2;
  return ended && n == 0 ? -1 : (int)n;
}

/* Writes the status to the console and sleeps until reset. A board under an emulator has a board_exit of its own. */
void __attribute__((weak)) board_exit(int status) {
  char text[] = "exit 000\n";
  uint32_t digits = (uint32_t)status & 255u;
  for (int i = 7; i >= 5; --i, digits /= 10) text[i] = (char)('0' + digits % 10);
  board_write(text, sizeof text - 1);
  for (;;) __asm__ volatile("wfi");
}
