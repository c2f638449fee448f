// SPDX-License-Identifier: Apache-2.0
// On the board, in a build with GOLDCREST_RULES: self-test and searches with rules have the host's bits with every
// kernel table. The model is g2p.
#include "board_api.h"
#include "boards/hash_every_table.h"
#include "model_ruled.h"
#include "support/search_hash.h"

namespace goldcrest::test {
namespace {

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_RULED_ARENA_BYTES];

int hash_ruled(goldcrest_engine* engine, uint64_t* hash) {
  const int status = goldcrest_self_test(engine, nullptr);
  return status < 0 ? status : hash_searches(engine, words_to_hash(), hash);
}

bool passes() {
  goldcrest_config config = {};
  config.model = model_ruled;
  config.model_bytes = MODEL_RULED_BYTES;
  config.arena = arena;
  config.arena_bytes = sizeof arena;
  config.limits = MODEL_RULED_LIMITS;
  return every_table_has_the_hash(config, hash_ruled);
}

}  // namespace
}  // namespace goldcrest::test

int main() {
  board_init();
  return goldcrest::test::passes() ? 0 : 1;
}
