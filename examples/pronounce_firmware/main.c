/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that prints how English words are pronounced. Type a word on the serial console to get its phonemes
 * (ARPAbet), which a Transformer finds with beam search in static memory.
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "model_g2p.h" /* goldcrest_add_model in CMakeLists.txt: the array, and what its limits need */

#ifndef MOST_ARENA_KIB
#define MOST_ARENA_KIB 128
#endif
enum { kMaxLetters = 24, kPhonemeBytes = 4 /* a token's most: three letters and a space */ };

_Static_assert(MODEL_G2P_MAX_SOURCE_TOKENS == kMaxLetters + 1, "letters or bytes, and the end token");
_Static_assert(
    MODEL_G2P_BEAM_SIZE == 4 && MODEL_G2P_ARENA_BYTES <= MOST_ARENA_KIB * 1024, "the engine's memory at beam 4");
_Static_assert(MODEL_G2P_STACK_BYTES <= 4096, "the engine's part of the stack");

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

/* Turns letters into lower case, as in the dictionary that the model was trained on. */
static void lower_case(char *word) {
  for (; *word != '\0'; ++word)
    if (*word >= 'A' && *word <= 'Z') *word = (char)(*word - 'A' + 'a');
}

/* Returns the index of the first letter of the stored source that the model does not know, or -1. */
static int unknown_letter(const goldcrest_engine *engine, int32_t unknown_id) {
  const int32_t *ids;
  const int n = goldcrest_get_source(engine, 0, &ids);
  for (int i = 0; i < n; ++i)
    if (ids[i] == unknown_id) return i;
  return -1;
}

/* Writes the pronunciation of one word, or the reason for having none. */
static void pronounce(
    goldcrest_engine *engine, int32_t unknown_id, const char *word, size_t n_letters, const goldcrest_detail *detail) {
  const uint64_t start = board_ticks();
  int status = goldcrest_begin_text(engine, word, n_letters);
  if (status >= 0) {
    const int letter = unknown_letter(engine, unknown_id);
    if (letter >= 0) {
      put_text("unknown letter, number ");
      put_unsigned((uint64_t)letter + 1);
      put_text(": this model knows a to z and the apostrophe\n");
      return;
    }
    status = goldcrest_run(engine);
  }
  goldcrest_result best;
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &best);
  char phonemes[kPhonemeBytes * MODEL_G2P_MAX_TARGET_TOKENS];
  goldcrest_text_state state = {0};
  int64_t n = status;
  if (status >= 0) n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, phonemes, sizeof phonemes);
  const uint64_t ticks = board_ticks() - start;
  if (n < 0) {
    put_error("no pronunciation", (int)n, detail);
    return;
  }
  board_write(phonemes, (size_t)n);
  put_text("   ");
  put_ticks(ticks);
  put_text("\n");
}

int main(void) {
  board_init();
  goldcrest_detail detail = {"", -1};
  goldcrest_info model;
  const goldcrest_config config = {
      .model = model_g2p,
      .model_bytes = MODEL_G2P_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_G2P_LIMITS,
      .detail = &detail,
  };
  goldcrest_engine *engine;
  int status = goldcrest_model_info(model_g2p, MODEL_G2P_BYTES, &model, &detail);
  if (status >= 0) status = goldcrest_init(&engine, &config);
  if (status >= 0) status = goldcrest_self_test(engine, &detail);
  if (status < 0) {
    put_init_error("this firmware's model cannot be used", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_G2P_BYTES, sizeof arena);
  put_text("Type an English word of at most 24 letters; Ctrl-D ends.\n");
  for (;;) {
    char word[kMaxLetters + 1];
    put_text("> ");
    const int n_letters = board_read_line(word, sizeof word);
    if (n_letters == -1) break;
    if (n_letters == -2) {
      put_text("too long: at most 24 letters\n");
    } else if (n_letters > 0) {
      lower_case(word);
      pronounce(engine, model.unknown_id, word, (size_t)n_letters, &detail);
    }
  }
  put_text("\n");
  board_exit(0);
}
