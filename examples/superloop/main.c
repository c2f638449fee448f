/* SPDX-License-Identifier: Apache-2.0
 *
 * A super-loop that must feed its watchdog while a sentence is worked on: each round does one bounded step of the engine.
 * It pronounces some words and says how long the longest round took.
 */
#include <stddef.h>
#include <stdint.h>

#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "model_g2p.h"

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

/* The deadline that the loop must keep. A real board would reload its watchdog's counter in watchdog_feed and be reset
 * when it comes too late. */
enum { kWatchdogMilliseconds = 50 };

typedef struct watchdog {
  uint64_t fed_at, longest_ticks;
  uint32_t n_late, n_rounds;
} watchdog;

static void watchdog_feed(watchdog *dog) {
  const uint64_t now = board_ticks(), elapsed = now - dog->fed_at;
  if (elapsed > dog->longest_ticks) dog->longest_ticks = elapsed;
  if (elapsed * 1000 > (uint64_t)kWatchdogMilliseconds * board_ticks_per_second()) ++dog->n_late;
  ++dog->n_rounds;
  dog->fed_at = now;
}

static void fail(const char *what, int status, const goldcrest_detail *detail) {
  put_error(what, status, detail);
  board_exit(1);
}

static void print_rounds(const watchdog *dog, uint64_t step_macs) {
  put_unsigned(dog->n_rounds);
  put_text(" rounds; the longest took ");
  put_unsigned(dog->longest_ticks);
  put_text(" ticks of ");
  put_unsigned(board_ticks_per_second());
  put_text(" a second, the largest step is ");
  put_unsigned(step_macs);
  put_text(" multiply-accumulates; ");
  put_unsigned(dog->n_late);
  put_text(" rounds later than ");
  put_unsigned(kWatchdogMilliseconds);
  put_text(" ms\n");
}

int main(void) {
  static const char *const kWords[] = {"watchdog", "interrupt", "firmware", "transformer"};
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
  if (status < 0) fail("start", status, &detail);

  watchdog dog = {.fed_at = board_ticks()};
  for (size_t i = 0; i < sizeof kWords / sizeof kWords[0]; ++i) {
    size_t n_letters = 0;
    while (kWords[i][n_letters] != '\0') ++n_letters;
    status = goldcrest_begin_text(engine, kWords[i], n_letters);
    while (status >= 0 && status != GOLDCREST_DONE) {
      int32_t token;
      status = goldcrest_step(engine, &token);
      watchdog_feed(&dog);
    }
    goldcrest_result best;
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &best);
    if (status < 0) fail(kWords[i], status, &detail);

    char phonemes[160];
    goldcrest_text_state state = {0};
    const int64_t n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, phonemes, sizeof phonemes);
    if (n < 0) fail(kWords[i], (int)n, &detail);
    put_text(kWords[i]);
    put_text(": ");
    board_write(phonemes, (size_t)n);
    put_text("\n");
    dog.fed_at = board_ticks(); /* the console's time is not the engine's */
  }
  print_rounds(&dog, memory.layer_step_macs);
  board_exit(dog.n_late == 0 ? 0 : 1);
}
