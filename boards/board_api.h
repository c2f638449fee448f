/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a board that the example and test firmware calls: a console, a clock, an exit. Each board is a
 * folder next to this file. It implements all of them, without a heap and without the C library's streams; common/
 * makes the console of a serial port's two functions.
 */
#ifndef GOLDCREST_BOARD_API_H_
#define GOLDCREST_BOARD_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts clocks, caches, floating point and console. main must call it first: the start-up code calls nothing before
 * main. */
void board_init(void);

/* Returns the board's name, which is its folder's name. */
const char *board_name(void);

/* Writes n bytes to the console. Returns once all are handed to the port. */
void board_write(const char *text, size_t n);

/* Reads one line from the console and echoes it. The line ends with a carriage return, a line feed or both, which are
 * not stored; a terminating zero is stored. Backspace removes the last character. Ctrl-D (byte 4) ends the input. A
 * line of line_bytes bytes or more is discarded. Returns the line's length; -1 at the end of the input; -2 for a
 * discarded line. */
int board_read_line(char *line, size_t line_bytes);

/* A clock that only counts up, board_ticks_per_second() ticks in a second. Under an emulator with -icount one tick is a
 * fixed number of instructions. */
uint64_t board_ticks(void);
uint32_t board_ticks_per_second(void);

/* Ends the program with a status: an emulator exits with it, a real board stops here. */
void board_exit(int status) __attribute__((noreturn));

/* The serial port, for common/console.c. Both functions wait, until it has room or until there is a byte. They use no
 * interrupts. */
void uart_write_byte(uint8_t byte);
uint8_t uart_read_byte(void);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_BOARD_API_H_ */
