/* SPDX-License-Identifier: Apache-2.0
 *
 * A super-loop that must feed its watchdog while it works on a word. Each round does one bounded step of the engine. It
 * pronounces some words, then checks its model slice by slice, and prints the time of the longest round.
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/check.h"
#include "model_g2p.h" /* goldcrest_add_model in CMakeLists.txt */
#include "watchdog.h"

_Static_assert(MODEL_G2P_BEAM_SIZE == 1 && MODEL_G2P_ARENA_BYTES <= 48 * 1024, "the engine's memory, greedy");

enum { kWatchdogMilliseconds = 50, kSliceBytes = 4096, kPhonemeBytes = 4 /* three letters and a space */ };

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

/* The super-loop. Put your other work where it feeds the watchdog. Returns a status. */
static int find_pronunciation(goldcrest_engine *engine, const char *word, size_t n_letters, watchdog *dog) {
  watchdog_start(dog);
  int status = goldcrest_begin_text(engine, word, n_letters);
  while (status >= 0 && status != GOLDCREST_DONE) {
    status = goldcrest_step(engine, NULL);
    watchdog_feed(dog);
  }
  return status;
}

static int print_pronunciation(const goldcrest_engine *engine, const char *word) {
  goldcrest_result best;
  const int status = goldcrest_get_result(engine, 0, 0, &best);
  if (status < 0) return status;
  char phonemes[kPhonemeBytes * MODEL_G2P_MAX_TARGET_TOKENS];
  goldcrest_text_state state = {0};
  const int64_t n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, phonemes, sizeof phonemes);
  if (n < 0) return (int)n;
  put_text(word);
  put_text(": ");
  board_write(phonemes, (size_t)n);
  put_text("\n");
  return GOLDCREST_OK;
}

/* The loop's work while no word is there: checks the model's checksums, one slice a round. Returns a status. */
static int check_model(watchdog *dog, goldcrest_detail *detail) {
  goldcrest_check check = {0};
  int status = GOLDCREST_WORKING;
  watchdog_start(dog);
  while (status == GOLDCREST_WORKING) {
    const size_t end = (size_t)check.checked_bytes + kSliceBytes;
    status = goldcrest_check_weights(model_g2p, MODEL_G2P_BYTES, end, &check, detail);
    watchdog_feed(dog);
  }
  return status;
}

static void print_rounds(const watchdog *dog, uint64_t step_macs) {
  put_unsigned(dog->n_rounds);
  put_text(" rounds, all within ");
  put_unsigned(kWatchdogMilliseconds);
  put_text(" ms. The largest step is ");
  put_unsigned(step_macs);
  put_text(" multiply-accumulates; ");
  watchdog_print_longest(dog);
}

static void fail(const char *what, int status, const goldcrest_detail *detail) {
  put_error(what, status, detail);
  board_exit(1);
}

int main(void) {
  static const struct {
    const char *text;
    size_t n_letters;
  } kWords[] = {{"watchdog", 8}, {"interrupt", 9}, {"firmware", 8}, {"transformer", 11}};
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_g2p,
      .model_bytes = MODEL_G2P_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_G2P_LIMITS,
      .step_size = GOLDCREST_STEP_LAYER, /* the smallest steps */
      .detail = &detail,
  };
  goldcrest_memory memory;
  goldcrest_engine *engine;
  int status = goldcrest_plan_memory(model_g2p, MODEL_G2P_BYTES, &config.limits, &memory, NULL, NULL, &detail);
  if (status >= 0) status = goldcrest_init(&engine, &config); /* before the watchdog runs: it reads the whole model */
  if (status < 0) {
    put_init_error("this firmware's model cannot be used", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_G2P_BYTES, sizeof arena);

  watchdog dog = {.deadline_ms = kWatchdogMilliseconds};
  for (size_t i = 0; i < sizeof kWords / sizeof kWords[0]; ++i) {
    status = find_pronunciation(engine, kWords[i].text, kWords[i].n_letters, &dog);
    if (status >= 0) status = print_pronunciation(engine, kWords[i].text);
    if (status < 0) fail(kWords[i].text, status, &detail);
  }
  print_rounds(&dog, memory.layer_step_macs);

  watchdog idle_dog = {.deadline_ms = kWatchdogMilliseconds};
  status = check_model(&idle_dog, &detail);
  if (status < 0) fail("this firmware's model is damaged", status, &detail);
  put_text("The model is whole: ");
  put_unsigned(idle_dog.n_rounds);
  put_text(" rounds of a slice each; ");
  watchdog_print_longest(&idle_dog);
  board_exit(0);
}
