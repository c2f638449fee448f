/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that says how English words are pronounced: type a word on the serial console, get its phonemes (ARPAbet),
 * found by a Transformer with beam search in static memory.
 */
#include <stddef.h>
#include <stdint.h>

#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "model_g2p.h" /* goldcrest_add_model in CMakeLists.txt: the array, and what its limits need */

enum { kMostLetters = 24, kPhonemesBytes = 160 };

_Static_assert(MODEL_G2P_MAX_SOURCE_TOKENS > kMostLetters, "letters and the end token");
_Static_assert(MODEL_G2P_ARENA_BYTES <= 128 * 1024, "the memory that this firmware gives to the engine");

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

/* Letters become lower case, as in the dictionary that the model learned from. */
static void lower_case(char *word) {
  for (; *word != '\0'; ++word) {
    if (*word >= 'A' && *word <= 'Z') *word = (char)(*word - 'A' + 'a');
  }
}

/* Index of the first letter of the stored source that the model has never seen, or -1. */
static int unknown_letter(const goldcrest_engine *engine, int32_t unknown_id) {
  const int32_t *ids;
  const int n = goldcrest_get_source(engine, 0, &ids);
  for (int i = 0; i < n; ++i) {
    if (ids[i] == unknown_id) return i;
  }
  return -1;
}

/* The pronunciation of one word, or why there is none. */
static void pronounce(goldcrest_engine *engine, const goldcrest_info *model, const char *word, size_t n_letters,
                      const goldcrest_detail *detail) {
  char phonemes[kPhonemesBytes];
  const uint64_t start = board_ticks();
  int status = goldcrest_begin_text(engine, word, n_letters);
  if (status >= 0) {
    const int letter = unknown_letter(engine, model->unknown_id);
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
  goldcrest_text_state state = {0};
  int64_t n = status;
  if (status >= 0) n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, phonemes, sizeof phonemes);
  if (n < 0) {
    put_error("no pronunciation", (int)n, detail);
    return;
  }
  const uint64_t ticks = board_ticks() - start;
  board_write(phonemes, (size_t)n);
  put_text("   (");
  put_unsigned(ticks * 1000000 / board_ticks_per_second());
  put_text(" us)\n");
}

static void print_start(const goldcrest_engine *engine) {
  put_text("Goldcrest " GOLDCREST_VERSION " on ");
  put_text(board_name());
  put_text(", kernels ");
  put_text(goldcrest_kernels_name(engine));
  put_text(". Model ");
  put_unsigned(MODEL_G2P_BYTES);
  put_text(" bytes, arena ");
  put_unsigned(MODEL_G2P_ARENA_BYTES);
  put_text(" bytes, beam ");
  put_unsigned(MODEL_G2P_BEAM_SIZE);
  put_text(".\nType an English word of at most 24 letters; Ctrl-D ends.\n");
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
    put_error("this firmware's model cannot be used", status, &detail);
    board_exit(1);
  }
  print_start(engine);
  for (;;) {
    char word[kMostLetters + 1];
    put_text("> ");
    const int n_letters = board_read_line(word, sizeof word);
    if (n_letters == -1) break;
    if (n_letters == -2) {
      put_text("too long: at most 24 letters\n");
    } else if (n_letters > 0) {
      lower_case(word);
      pronounce(engine, &model, word, (size_t)n_letters, &detail);
    }
  }
  put_text("\n");
  board_exit(0);
}
