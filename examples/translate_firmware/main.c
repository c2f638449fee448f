/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that translates text to text from a serial console: tokenizer, encoder, decoder and beam search in static
 * memory. Its model is the English-French one, or yours (examples/firmware/run.sh --model).
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "model_enfr.h" /* goldcrest_add_model in CMakeLists.txt */

enum { kLineBytes = MODEL_ENFR_MAX_SOURCE_BYTES + 1, kTranslationBytes = 512 };

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_ENFR_ARENA_BYTES];

/* Writes the translation of one line, or the reason for having none. */
static void translate(goldcrest_engine *engine, const char *line, size_t line_bytes, const goldcrest_detail *detail) {
  char text[kTranslationBytes];
  const uint64_t start = board_ticks();
  const int64_t n = goldcrest_translate(engine, line, line_bytes, text, sizeof text);
  const uint64_t ticks = board_ticks() - start;
  if (n < 0) {
    put_error("no translation", (int)n, detail);
    return;
  }
  put_text(text);
  put_text("   ");
  put_ticks(ticks);
  put_text("\n");
}

int main(void) {
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_enfr,
      .model_bytes = MODEL_ENFR_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_ENFR_LIMITS,
      .detail = &detail,
  };
  goldcrest_engine *engine;
  const int status = goldcrest_init(&engine, &config);
  if (status < 0) {
    put_init_error("this firmware's model cannot be used", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_ENFR_BYTES, sizeof arena);
  put_text("Type a text; Ctrl-D ends.\n");
  for (;;) {
    static char line[kLineBytes];
    put_text("> ");
    const int line_bytes = board_read_line(line, sizeof line);
    if (line_bytes == -1) break;
    if (line_bytes == -2) {
      put_text("too long: at most ");
      put_unsigned(MODEL_ENFR_MAX_SOURCE_BYTES);
      put_text(" bytes\n");
    } else if (line_bytes > 0) {
      translate(engine, line, (size_t)line_bytes, &detail);
    }
  }
  put_text("\n");
  board_exit(0);
}
