/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that listens: a microphone fills two halves of a buffer in turn, a voice gate collects the halves that have
 * speech into an utterance, and the engine writes what is said in it, one bounded step between two halves. All memory
 * is static.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/speech.h"
#include "model_heard.h" /* goldcrest_add_model in CMakeLists.txt */
#include "superloop/watchdog.h"
#include "voice_gate.h"

_Static_assert(MODEL_HEARD_STACK_BYTES <= 4096, "the engine's part of the stack");

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_HEARD_ARENA_BYTES];

/* ---- The microphone ---- */

/* Written by the microphone. half_is_full is set by its interrupt and cleared by the loop. */
static _Alignas(GOLDCREST_ALIGN) int16_t half[2][kHalfSamples];
static volatile bool half_is_full[2], half_was_lost, microphone_has_ended;

/* The microphone's interrupt: half i is full, and the other one is being written. */
static void on_full_half(unsigned i) {
  if (half_is_full[i]) half_was_lost = true;
  half_is_full[i] = true;
}

/* The sound of this example, as samples of 16 bits, next to the model. */
__asm__(
    ".pushsection .model, \"a\", %progbits\n"
    ".balign 4\n"
    "sound: .incbin \"" GOLDCREST_SOUND
    "\", 44\n" /* a WAV file's header */
    "sound_end:\n"
    ".popsection");
extern const int16_t sound[], sound_end[];

/* MPS3 AN547 has no microphone. Its timer of 32,768 Hz takes the place of the DMA: each of its interrupts copies the
 * next piece of the sound. The sound comes twice, with pauses around it (Cortex-M System Design Kit, "APB timer"). */
#define TIMER_CONTROL (*(volatile uint32_t *)0x5802F000u)
#define TIMER_VALUE (*(volatile uint32_t *)0x5802F004u)
#define TIMER_RELOAD (*(volatile uint32_t *)0x5802F008u)
#define TIMER_CLEAR (*(volatile uint32_t *)0x5802F00Cu)
#define INTERRUPT_ENABLE (*(volatile uint32_t *)0xE000E100u)

void External_Handler(void);
void External_Handler(void) {
  static unsigned next;
  static size_t n_pieces;
  const size_t n_sound = ((size_t)((uintptr_t)sound_end - (uintptr_t)sound) / sizeof(int16_t)) / kHalfSamples;
  const size_t in_turn = n_pieces % (n_sound + 40);
  TIMER_CLEAR = 1;
  if (n_pieces >= 2 * (n_sound + 40)) {
    TIMER_CONTROL = 0;
    microphone_has_ended = true;
    return;
  }
  ++n_pieces;
  if (in_turn >= 16 && in_turn - 16 < n_sound)
    memcpy(half[next], sound + (in_turn - 16) * kHalfSamples, sizeof half[next]);
  else memset(half[next], 0, sizeof half[next]);
  on_full_half(next);
  next = !next;
}

/* REPLACE THIS FUNCTION, and the handler above, on your board: start a DMA that fills half[0] and half[1] in turn,
 * without an end, from your microphone's 16-bit samples at kSampleRate. Call on_full_half(0) from its interrupt of the
 * half transfer and on_full_half(1) from that of the whole one. */
static void start_microphone(void) {
  TIMER_RELOAD = TIMER_VALUE = 32768u * kHalfMilliseconds / 1000 - 1;
  INTERRUPT_ENABLE = 1u << 2;
  TIMER_CONTROL = 9; /* on, with interrupt */
}

/* ---- The loop ---- */

typedef struct listen_loop {
  goldcrest_engine *engine;
  voice_gate gate;
  gate_utterance utterances[3]; /* one that the engine reads in place, one that waits, one that the gate fills */
  uint32_t n_ended, n_begun, n_done, n_lost; /* utterances; i is in utterances[i % 3] */
  unsigned next_half;
} listen_loop;

/* An utterance has ended: the engine works on those that have, in turn, and the gate fills the next one. */
static void queue_utterance(listen_loop *loop) {
  if (loop->n_ended - loop->n_done < 2) ++loop->n_ended;
  else /* the engine is slower than the speaker */ ++loop->n_lost;
  loop->utterances[loop->n_ended % 3].n_halves = 0;
}

/* Takes the next half of the microphone's buffer if it is full. */
static void take_half(listen_loop *loop) {
  const unsigned i = loop->next_half;
  if (!half_is_full[i]) return;
  if (gate_add(&loop->gate, &loop->utterances[loop->n_ended % 3], half[i])) queue_utterance(loop);
  half_is_full[i] = false;
  loop->next_half = !i;
}

static int print_text(const goldcrest_engine *engine) {
  goldcrest_result best;
  const int status = goldcrest_get_result(engine, 0, 0, &best);
  if (status < 0) return status;
  char text[512];
  goldcrest_text_state state = {0};
  const int64_t n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, text, sizeof text);
  if (n < 0) return (int)n;
  board_write(text, (size_t)n);
  put_text("\n");
  return GOLDCREST_OK;
}

/* A round's work of the engine: a bounded step, or the begin of the next utterance. Returns a status. */
static int work(listen_loop *loop) {
  if (loop->n_done == loop->n_ended) {
    if (!half_is_full[loop->next_half]) __asm__ volatile("wfe"); /* an interrupt since the check wakes it, too */
    return GOLDCREST_OK;
  }
  if (loop->n_done == loop->n_begun) {
    const gate_utterance *heard = &loop->utterances[loop->n_begun++ % 3];
    return goldcrest_begin_audio(loop->engine, heard->samples, (size_t)heard->n_halves * kHalfSamples);
  }
  const int status = goldcrest_step(loop->engine, NULL);
  if (status != GOLDCREST_DONE) return status;
  ++loop->n_done;
  return print_text(loop->engine);
}

static void fail(const char *what, int status, const goldcrest_detail *detail) {
  put_error(what, status, detail);
  board_exit(1);
}

/* Listens until the microphone ends, which a real one does not. */
static void listen(listen_loop *loop, watchdog *dog, const goldcrest_detail *detail) {
  start_microphone();
  watchdog_start(dog);
  while (!microphone_has_ended || loop->n_done != loop->n_ended || half_is_full[loop->next_half]) {
    take_half(loop);
    const int status = work(loop);
    if (status < 0) fail("no text", status, detail);
    watchdog_feed(dog);
    if (half_was_lost) {
      put_text("the microphone was too fast: it wrote half a buffer again before the loop had read it\n");
      board_exit(1);
    }
  }
}

static void print_summary(const listen_loop *loop, const watchdog *dog, uint64_t step_macs) {
  put_unsigned(loop->n_done);
  put_text(" utterances, ");
  put_unsigned(loop->n_lost);
  put_text(" lost; all rounds within ");
  put_unsigned(dog->deadline_ms);
  put_text(" ms. The largest step is ");
  put_unsigned(step_macs);
  put_text(" multiply-accumulates; ");
  watchdog_print_longest(dog);
}

int main(void) {
  static listen_loop loop;
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_heard,
      .model_bytes = MODEL_HEARD_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_HEARD_LIMITS,
      .step_size = GOLDCREST_STEP_LAYER, /* the smallest steps */
      .detail = &detail,
  };
  goldcrest_info info;
  goldcrest_memory memory;
  int status = goldcrest_model_info(model_heard, MODEL_HEARD_BYTES, &info, &detail);
  if (status >= 0)
    status = goldcrest_plan_memory(model_heard, MODEL_HEARD_BYTES, &config.limits, &memory, NULL, NULL, &detail);
  if (status >= 0) status = goldcrest_init(&loop.engine, &config);
  if (status < 0 || info.sample_rate != kSampleRate) {
    put_init_error("this firmware's model cannot be used", status < 0 ? status : GOLDCREST_ERROR_UNSUPPORTED, &config);
    board_exit(1);
  }
  put_start(loop.engine, MODEL_HEARD_BYTES, sizeof arena);
  loop.gate.max_halves = longest_utterance(&info, MODEL_HEARD_MAX_SOURCE_TOKENS);
  watchdog dog = {.deadline_ms = kHalfMilliseconds};
  listen(&loop, &dog, &detail);
  print_summary(&loop, &dog, memory.layer_step_macs);
  board_exit(0);
}
