/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and numbers on a board's console.
 */
#include "console_text.h"
#include "board_api.h"

void put_text(const char *text) {
  for (; *text != '\0'; ++text) board_write(text, 1);
}

void put_unsigned(uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  board_write(digits + first, sizeof digits - first);
}

void put_ticks(uint64_t ticks) {
  put_text("(");
  put_unsigned(ticks);
  put_text(" ticks, ");
  put_unsigned(ticks * 1000 / board_ticks_per_second());
  put_text(" ms)");
}

void put_start(const goldcrest_engine *engine, size_t model_bytes, size_t arena_bytes) {
  put_text("Goldcrest " GOLDCREST_VERSION " on ");
  put_text(board_name());
  put_text(", kernels ");
  put_text(goldcrest_kernels_name(engine));
  put_text(". Model ");
  put_unsigned(model_bytes);
  put_text(" bytes, arena ");
  put_unsigned(arena_bytes);
  put_text(" bytes.\n");
}

/* Writes an error without a line end. */
static void put_reason(const char *what, int status, const goldcrest_detail *detail) {
  put_text(what);
  put_text(": ");
  put_text(goldcrest_status_string(status));
  if (detail == NULL || detail->message == NULL || detail->message[0] == '\0') return;
  put_text(": ");
  put_text(detail->message);
  if (detail->index < 0) return;
  put_text(" (");
  put_unsigned((uint64_t)detail->index);
  if (status == GOLDCREST_ERROR_ARENA_TOO_SMALL) put_text(" bytes");
  put_text(")");
}

void put_error(const char *what, int status, const goldcrest_detail *detail) {
  put_reason(what, status, detail);
  put_text("\n");
}

void put_init_error(const char *what, int status, const goldcrest_config *config) {
  put_reason(what, status, config->detail);
  if (status == GOLDCREST_ERROR_ARENA_TOO_SMALL) {
    put_text("; given: ");
    put_unsigned(config->arena_bytes);
    put_text(" bytes, scratch of ");
    put_unsigned(config->scratch_bytes);
  }
  put_text("\n");
}
