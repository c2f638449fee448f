/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that answers an English sentence with one of the ten French phrases of phrases.txt, the model's lexicon. It
 * also shows what the model says without the lexicon, and the clock's ticks that a token takes both ways.
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/decoding.h"
#include "model_phrases.h" /* goldcrest_add_model in CMakeLists.txt */

_Static_assert(MODEL_PHRASES_BEAM_SIZE == 1, "the steps of a greedy search, each of which gives a token");

enum { kLineBytes = MODEL_PHRASES_MAX_SOURCE_BYTES + 1, kTextBytes = 512 };

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_PHRASES_ARENA_BYTES];

typedef struct line {
  char text[kLineBytes];
  size_t n_bytes;
} line;

/* Writes the translation of a line and the mean ticks of the steps that gave a token. Returns a status. */
static int translate(goldcrest_engine *engine, const line *from, const char *how) {
  uint64_t ticks = 0, n_steps = 0;
  int status = goldcrest_begin_text(engine, from->text, from->n_bytes);
  while (status >= 0 && status != GOLDCREST_DONE) {
    const uint64_t start = board_ticks();
    status = goldcrest_step(engine, NULL);
    if (status == GOLDCREST_WORKING) continue; /* the encoder's */
    ticks += board_ticks() - start;
    ++n_steps;
  }
  goldcrest_result best;
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &best);
  if (status < 0) return status;
  char text[kTextBytes];
  goldcrest_text_state state = {0};
  const int64_t n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, text, sizeof text);
  if (n < 0) return (int)n;
  put_text(how);
  board_write(text, (size_t)n);
  put_text("   ");
  put_unsigned(ticks / n_steps);
  put_text(" ticks a token\n");
  return GOLDCREST_OK;
}

/* Answers a line with a phrase, then without the lexicon. Returns a status. */
static int answer(goldcrest_engine *engine, const line *from) {
  static const goldcrest_lexicon kNone = {0};
  int status = goldcrest_set_lexicon(engine, NULL); /* the file's */
  if (status >= 0) status = translate(engine, from, "");
  if (status >= 0) status = goldcrest_set_lexicon(engine, &kNone);
  if (status >= 0) status = translate(engine, from, "  without the lexicon: ");
  return status;
}

int main(void) {
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_phrases,
      .model_bytes = MODEL_PHRASES_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_PHRASES_LIMITS,
      .detail = &detail,
  };
  goldcrest_engine *engine;
  const int status = goldcrest_init(&engine, &config);
  if (status < 0) {
    put_init_error("this firmware's model cannot be used", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_PHRASES_BYTES, sizeof arena);
  put_text("Type an English sentence; Ctrl-D ends.\n");
  for (;;) {
    static line typed;
    put_text("> ");
    const int n_bytes = board_read_line(typed.text, sizeof typed.text);
    if (n_bytes == -1) break;
    if (n_bytes == 0) continue;
    typed.n_bytes = n_bytes > 0 ? (size_t)n_bytes : sizeof typed.text; /* too long: the engine says so */
    const int answered = answer(engine, &typed);
    if (answered < 0) put_error("no answer", answered, &detail);
  }
  put_text("\n");
  board_exit(0);
}
