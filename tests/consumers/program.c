/* SPDX-License-Identifier: Apache-2.0
 *
 * A firmware's main: translates one word with a model in read-only memory. Exits with 0 if the pronunciation is right.
 */
#include <string.h>
#include "goldcrest/goldcrest.h"
#include "model_g2p.h"
#ifdef ON_BOARD
#include "board_api.h"
#endif

/* Firmware checks these at compile time: in the preprocessor, and as a constant expression. */
#if MODEL_G2P_ARENA_BYTES > 128 * 1024 || MODEL_G2P_STACK_BYTES > 4096
#error "the model does not fit"
#endif
_Static_assert(MODEL_G2P_ARENA_BYTES >= MODEL_G2P_MAIN_BYTES && MODEL_G2P_MAIN_BYTES > MODEL_G2P_SCRATCH_BYTES,
    "the regions make up the arena");
_Static_assert(MODEL_G2P_MAX_SOURCE_TOKENS == 25 && MODEL_G2P_MAX_TARGET_TOKENS == 33 && MODEL_G2P_BEAM_SIZE == 4,
    "the limits of the build file");
_Static_assert(sizeof model_g2p == MODEL_G2P_BYTES, "the array has its size");
/* The interface has no field of an enumeration's type, so the library may be built with another -fshort-enums. */
_Static_assert(sizeof(goldcrest_limits) == 14 * sizeof(uint32_t), "fields of fixed size");

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

int main(void) {
#ifdef ON_BOARD
  board_init();
#endif
  const goldcrest_limits limits = MODEL_G2P_LIMITS;
  goldcrest_config config;
  memset(&config, 0, sizeof config);
  config.model = model_g2p;
  config.model_bytes = MODEL_G2P_BYTES;
  config.arena = arena;
  config.arena_bytes = sizeof arena;
  config.limits = limits;
  goldcrest_engine *engine;
  if (goldcrest_init(&engine, &config) < 0) return 1;

  char text[128];
  const char expected[] = "G OW1 L D K R EH2 S T";
  if (goldcrest_translate(engine, "goldcrest", 9, text, sizeof text) != (int64_t)(sizeof expected - 1)) return 2;
  return memcmp(text, expected, sizeof expected) == 0 ? 0 : 3;
}
