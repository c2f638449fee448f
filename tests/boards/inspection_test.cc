// SPDX-License-Identifier: Apache-2.0
// On the board, in a build with GOLDCREST_INSPECTION: token scores, scores of a target and alignments of the g2p model
// have the host's bits, with every kernel table.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "board_api.h"
#include "model_inspected.h"
#include "support/inspection_hash.h"

extern "C" {
extern const char inspected_words[], inspected_words_end[];  // lines "word TAB pronunciation"
extern const char inspected_hash[];                          // 16 hexadecimal digits and a line feed
}

namespace goldcrest::test {
namespace {

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_INSPECTED_ARENA_BYTES];

int hash_with(const char* kernels, goldcrest_detail* detail, uint64_t* hash) {
  goldcrest_config config = {};
  config.model = model_inspected;
  config.model_bytes = MODEL_INSPECTED_BYTES;
  config.arena = arena;
  config.arena_bytes = sizeof arena;
  config.limits = MODEL_INSPECTED_LIMITS;
  config.kernels = kernels;
  config.detail = detail;
  goldcrest_engine* engine = nullptr;
  goldcrest_info info;
  int status = goldcrest_init(&engine, &config);
  if (status >= 0) status = goldcrest_model_info(model_inspected, MODEL_INSPECTED_BYTES, &info, detail);
  if (status < 0) return status;
  const std::string_view lines(inspected_words, static_cast<size_t>(inspected_words_end - inspected_words));
  return hash_words({engine, info.decoder_layers, info.decoder_heads}, lines, hash);
}

bool all_tables_pass() {
  const uint64_t expected = std::strtoull(inspected_hash, nullptr, 16);
  bool all_pass = expected != 0 && goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) {
    goldcrest_detail detail = {"", -1};
    uint64_t hash = 0;
    const int status = hash_with(goldcrest_kernels_at(i), &detail, &hash);
    std::printf("%-16s %s %s, hash %08" PRIx32 "%08" PRIx32 " %s\n", goldcrest_kernels_at(i),
                goldcrest_status_string(status), detail.message, static_cast<uint32_t>(hash >> 32),
                static_cast<uint32_t>(hash), hash == expected ? "same" : "DIFFERENT");
    all_pass &= status >= 0 && hash == expected;
  }
  return all_pass;
}

}  // namespace
}  // namespace goldcrest::test

int main() {
  board_init();
  return goldcrest::test::all_tables_pass() ? 0 : 1;
}
