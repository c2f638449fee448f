// SPDX-License-Identifier: Apache-2.0
// On the board, in a build with GOLDCREST_SEARCH: self-test and searches with rules have the host's bits with every
// kernel table. With GOLDCREST_TESTS_SAMPLES, in a build with GOLDCREST_SEARCH: so have 100 sampled texts. The model
// is g2p.
#include "boards/hash_every_table.h"
#include "model_ruled.h"
#include "support/search_hash.h"

namespace goldcrest::test {
namespace {
#ifdef GOLDCREST_TESTS_SAMPLES
constexpr uint32_t kMaxSampled = 20;
constexpr auto hash_all = hash_samples;
#else
constexpr uint32_t kMaxSampled = 0;
constexpr auto hash_all = hash_searches;
#endif
// Eight bytes for each sampled token of four hypotheses, eight for each hypothesis; each buffer takes multiples of 64.
constexpr size_t kSamplingBytes = kMaxSampled == 0 ? 0 : 8 * kMaxSampled * kSamples + 64;
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_RULED_ARENA_BYTES + kSamplingBytes];

int hash_ruled(goldcrest_engine* engine, uint64_t* hash) {
  const int status = goldcrest_self_test(engine, nullptr);
  return status < 0 ? status : hash_all(engine, words_to_hash(), hash);
}
}  // namespace

bool passes() {
  goldcrest_config config = {.model = model_ruled,
      .model_bytes = MODEL_RULED_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_RULED_LIMITS};
  config.limits.max_sampled = kMaxSampled;
  return every_table_has_the_hash(config, hash_ruled);
}
}  // namespace goldcrest::test
