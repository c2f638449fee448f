/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests the board itself: lines of the console, the clock, the exit status, and the reports of a fault and of a full
 * stack. This is firmware in C, linked only with goldcrest_board.
 */
#include <string.h>
#include "board_api.h"

static void write_text(const char *text) { board_write(text, strlen(text)); }

/* Each level takes some 100 bytes of stack. */
static int __attribute__((noinline)) descend(int levels) {
  volatile char frame[64];
  frame[0] = (char)levels;
  return levels == 0 ? 0 : descend(levels - 1) + frame[0];
}

static void answer(const char *line) {
  write_text("[");
  write_text(line);
  write_text("]\n");
  if (strcmp(line, "trap") == 0) __builtin_trap();
  if (strcmp(line, "deep") == 0) descend(1000000);
}

int main(void) {
  board_init();
  write_text(board_name());
  write_text("\n");
  const uint64_t start = board_ticks();
  char line[8];
  for (int n; (n = board_read_line(line, sizeof line)) != -1;) answer(n == -2 ? "too long" : line);
  const uint64_t ticks = board_ticks() - start;
  write_text(ticks > 0 && ticks < 3600ull * board_ticks_per_second() ? "the clock ran\n" : "the clock stood\n");
  return 7;
}
