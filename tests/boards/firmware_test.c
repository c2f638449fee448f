/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest firmware: it reads a word and writes its pronunciation, by beam search in static memory. Its ELF must
 * have no symbol of a heap, of streams or of a C++ runtime (firmware_code.sh).
 */
#include <string.h>
#include "board_api.h"
#include "goldcrest/goldcrest.h"
#include "model_firmware.h"

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_FIRMWARE_ARENA_BYTES];

static int fail(const char *message) {
  board_write(message, strlen(message));
  return 1;
}

int main(void) {
  board_init();
  goldcrest_detail detail = {"", -1};
  const goldcrest_config config = {
      .model = model_firmware,
      .model_bytes = MODEL_FIRMWARE_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_FIRMWARE_LIMITS,
      .detail = &detail,
  };
  goldcrest_engine *engine;
  if (goldcrest_init(&engine, &config) < 0) return fail(detail.message);
  if (goldcrest_self_test(engine, &detail) < 0) return fail(detail.message);
  char text[256];
  const int64_t n = goldcrest_translate(engine, "hello", 5, text, sizeof text);
  if (n < 0) return fail(detail.message);
  board_write(goldcrest_kernels_name(engine), strlen(goldcrest_kernels_name(engine)));
  board_write(": ", 2);
  board_write(text, (size_t)n);
  board_write("\n", 1);
  return 0;
}
