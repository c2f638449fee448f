/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that writes what is said in a clip. Model and clip are read in place; the engine works in static memory.
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/speech.h"
#include "model_heard.h" /* goldcrest_add_model in CMakeLists.txt */

enum { kTextBytes = 512 };

_Static_assert(MODEL_HEARD_STACK_BYTES <= 4096, "the engine's part of the stack");

/* The clip, samples of 16 bits, next to the model. */
__asm__(
    ".pushsection .model, \"a\", %progbits\n"
    ".balign 4\n"
    "clip: .incbin \"" GOLDCREST_CLIP
    "\"\n"
    "clip_end:\n"
    ".popsection");
extern const int16_t clip[], clip_end[];

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_HEARD_ARENA_BYTES];

int main(void) {
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_heard,
      .model_bytes = MODEL_HEARD_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_HEARD_LIMITS,
      .detail = &detail,
  };
  goldcrest_engine *engine;
  const int status = goldcrest_init(&engine, &config);
  if (status < 0) {
    put_init_error("this firmware's model cannot be used", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_HEARD_BYTES, sizeof arena);
  const size_t n_samples = (size_t)((uintptr_t)clip_end - (uintptr_t)clip) / sizeof(int16_t);
  char text[kTextBytes];
  const uint64_t start = board_ticks();
  const int64_t n = goldcrest_transcribe(engine, clip, n_samples, text, sizeof text);
  const uint64_t ticks = board_ticks() - start;
  if (n < 0) {
    put_error("no text", (int)n, &detail);
    board_exit(1);
  }
  put_text(text);
  put_text("   ");
  put_ticks(ticks);
  put_text("\n");
  board_exit(0);
}
