// SPDX-License-Identifier: Apache-2.0
// On the board, in a build with GOLDCREST_INSPECTION: inspection of the g2p model has the host's bits with every kernel
// table. Covers token scores, scores of a target, and alignments.
#include "boards/hash_every_table.h"
#include "model_inspected.h"
#include "support/search_hash.h"

namespace goldcrest::test {
namespace {
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_INSPECTED_ARENA_BYTES];

int hash_inspected(goldcrest_engine* engine, uint64_t* hash) {
  goldcrest_info info;
  const int status = goldcrest_model_info(model_inspected, MODEL_INSPECTED_BYTES, &info, nullptr);
  if (status < 0) return status;
  return hash_words({engine, info.decoder_layers, info.decoder_heads}, words_to_hash(), hash);
}
}  // namespace

bool passes() {
  goldcrest_config config = {.model = model_inspected,
      .model_bytes = MODEL_INSPECTED_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_INSPECTED_LIMITS};
  return every_table_has_the_hash(config, hash_inspected);
}
}  // namespace goldcrest::test
