// SPDX-License-Identifier: Apache-2.0
// Compares the hash of a model's results with the host's, for every kernel table of the board.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include "goldcrest/goldcrest.h"

extern "C" {
extern const char hashed_words[], hashed_words_end[];  // lines "word TAB pronunciation"
extern const char expected_hash[];                     // 16 hexadecimal digits and a line feed
}

namespace goldcrest::test {
inline std::string_view words_to_hash() { return {hashed_words, static_cast<size_t>(hashed_words_end - hashed_words)}; }

// Prints each table's hash and returns whether all are the host's. `config` is an engine's, except for its kernels and
// detail. `hash_of` is int(goldcrest_engine*, uint64_t*) and returns a status.
template <typename HashOf> bool every_table_has_the_hash(goldcrest_config config, const HashOf& hash_of) {
  const uint64_t expected = std::strtoull(expected_hash, nullptr, 16);
  bool all_pass = expected != 0 && goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) {
    goldcrest_detail detail = {"", -1};
    config.kernels = goldcrest_kernels_at(i);
    config.detail = &detail;
    goldcrest_engine* engine = nullptr;
    uint64_t hash = 0;
    int status = goldcrest_init(&engine, &config);
    if (status >= 0) status = hash_of(engine, &hash);
    std::printf("%-16s %s %s, hash %08" PRIx32 "%08" PRIx32 " %s\n", config.kernels, goldcrest_status_string(status),
        detail.message, static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash),
        hash == expected ? "same" : "DIFFERENT");
    all_pass &= status >= 0 && hash == expected;
  }
  return all_pass;
}
}  // namespace goldcrest::test
