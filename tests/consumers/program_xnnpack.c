/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates one word with XNNPACK's kernels. Exits with 0 if the pronunciation is right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "goldcrest/xnnpack.h"
#include "model_g2p.h"

static void *allocate(uint64_t bytes) {
  const size_t rounded = ((size_t)bytes + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN;
  return aligned_alloc(GOLDCREST_ALIGN, rounded);
}

int main(void) {
  const goldcrest_limits limits = MODEL_G2P_LIMITS;
  goldcrest_xnnpack_memory memory;
  if (goldcrest_xnnpack_plan_memory(model_g2p, MODEL_G2P_BYTES, &limits, &memory, NULL) < 0) return 1;

  goldcrest_xnnpack_config packing;
  memset(&packing, 0, sizeof packing);
  packing.model = model_g2p;
  packing.model_bytes = MODEL_G2P_BYTES;
  packing.weights = allocate(memory.weights_bytes);
  packing.weights_bytes = (size_t)memory.weights_bytes;
  packing.packing = allocate(memory.packing_bytes);
  packing.packing_bytes = (size_t)memory.packing_bytes;

  goldcrest_config config;
  memset(&config, 0, sizeof config);
  config.model = model_g2p;
  config.model_bytes = MODEL_G2P_BYTES;
  config.limits = limits;
  config.kernels = "xnnpack";
  config.backend_memory = allocate(memory.engine_bytes);
  config.backend_bytes = (size_t)memory.engine_bytes;
  config.arena_bytes = MODEL_G2P_ARENA_BYTES;
  config.arena = allocate(config.arena_bytes);
  if (packing.weights == NULL || packing.packing == NULL || config.backend_memory == NULL || config.arena == NULL)
    return 2;
  if (goldcrest_xnnpack_open(&config.backend, &packing) < 0) return 3;
  goldcrest_engine *engine;
  if (goldcrest_init(&engine, &config) < 0) return 4;

  char text[128];
  const char expected[] = "G OW1 L D K R EH2 S T";
  if (goldcrest_translate(engine, "goldcrest", 9, text, sizeof text) != (int64_t)(sizeof expected - 1)) return 5;
  return memcmp(text, expected, sizeof expected) == 0 ? 0 : 6;
}
