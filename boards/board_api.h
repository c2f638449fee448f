/* SPDX-License-Identifier: Apache-2.0
 *
 * What the example and test firmware needs of a board: a console, a clock, an end. One board is one folder beside this
 * file; each implements all of it, without heap and without the C library's streams.
 */
#ifndef GOLDCREST_BOARD_API_H_
#define GOLDCREST_BOARD_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Clocks, caches, floating point, console. The start-up code has called nothing before main; main calls this first. */
void board_init(void);

/* The board's name, as its folder is called. */
const char *board_name(void);

/* Writes n bytes to the console and returns when all are on their way. */
void board_write(const char *text, size_t n);

/* Reads one line from the console and echoes it: bytes up to a carriage return, a line feed or both, which are not
 * stored. A terminating zero is. Backspace takes the last character back. Returns the line's length; -1 at the end of
 * the input, which is Ctrl-D (byte 4); -2 for a line of line_bytes or more, which is swallowed whole. */
int board_read_line(char *line, size_t line_bytes);

/* A clock that only counts up; board_ticks_per_second() of it are a second. Under an emulator with -icount one tick
 * stands for a fixed number of instructions. */
uint64_t board_ticks(void);
uint32_t board_ticks_per_second(void);

/* Ends the program with a status: an emulator exits with it, a real board stops here. */
void board_exit(int status) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_BOARD_API_H_ */
