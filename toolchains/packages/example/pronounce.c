/* SPDX-License-Identifier: Apache-2.0 */
#include "pronounce.h"
#include <stdint.h>
#include <string.h>
#include "model_g2p_small.h" /* of goldcrest-convert --emit-c: the array, and the memory that its limits need */

/* A second task's share of the arena. If it is too small, goldcrest_init says how many bytes it needs. */
enum { kSecondTaskBytes = 2048, kPieceBytes = 4096, kWords = 5 };

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_SMALL_ARENA_BYTES + kSecondTaskBytes];

static const char *const words[kWords] = {"goldcrest", "bird", "singing", "forest", "straightforward"};

int pronounce_words(
    const void *model, size_t model_bytes, goldcrest_parallel_for parallel_for, void (*print)(const char *text)) {
  goldcrest_detail detail = {"", -1};
  goldcrest_config config = {
      .model = model,
      .model_bytes = model_bytes,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_G2P_SMALL_LIMITS,
      .detail = &detail,
      .parallel_for = parallel_for,
  };
  if (parallel_for != NULL) config.limits.threads = 2;
  goldcrest_engine *engine;
  int status = goldcrest_init(&engine, &config); /* every check on the model happens here */
  if (status >= 0) status = goldcrest_self_test(engine, &detail);
  for (int i = 0; status >= 0 && i < kWords; ++i) {
    char phonemes[128];
    const int64_t n = goldcrest_translate(engine, words[i], strlen(words[i]), phonemes, sizeof phonemes);
    status = n < 0 ? (int)n : 0;
    if (n < 0) break;
    print(words[i]);
    print(": ");
    print(phonemes);
    print("\n");
  }
  if (status < 0) {
    print(goldcrest_status_string(status));
    print(": ");
    print(detail.message);
    print("\n");
  }
  return status < 0 ? status : 0;
}

int read_model_by_pieces(
    int (*read_piece)(void *context, size_t offset, void *to, size_t n), void *context, void *ram, size_t model_bytes) {
  int status = 0;
  for (size_t offset = 0; status == 0 && offset < model_bytes; offset += kPieceBytes) {
    const size_t left = model_bytes - offset;
    status = read_piece(context, offset, (uint8_t *)ram + offset, left < kPieceBytes ? left : kPieceBytes);
  }
  return status;
}
