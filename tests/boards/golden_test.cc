// SPDX-License-Identifier: Apache-2.0
// On the board: the g2p model's self-test, and its golden hash (FORMAT.md, "Self-test") over the first validation
// words, with every kernel table. The hash must be the one that the host computed.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/hash.h"
#include "board_api.h"
#include "goldcrest/goldcrest.h"
#include "model_golden.h"

extern "C" {
extern const char golden_words[], golden_words_end[];  // lines "word TAB pronunciation"
extern const char golden_hash[];                       // 16 hexadecimal digits and a line feed
}

namespace goldcrest {
namespace {

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_GOLDEN_ARENA_BYTES];

bool failed(const char* what, int status, const goldcrest_detail& detail) {
  std::printf("%s: %s, %s (%d)\n", what, goldcrest_status_string(status), detail.message ? detail.message : "",
              static_cast<int>(detail.index));
  return false;
}

// The first column of a line that begins at *words, which moves to the next line.
std::string_view next_word(std::string_view* words) {
  const std::string_view line = words->substr(0, words->find('\n'));
  words->remove_prefix(line.size() < words->size() ? line.size() + 1 : line.size());
  return line.substr(0, line.find('\t'));
}

// Whether self-test and hash are as expected with one kernel table.
bool passes(const char* kernels, uint64_t expected) {
  goldcrest_detail detail = {};
  goldcrest_config config = {};
  config.model = model_golden;
  config.model_bytes = MODEL_GOLDEN_BYTES;
  config.arena = arena;
  config.arena_bytes = sizeof arena;
  config.limits = MODEL_GOLDEN_LIMITS;
  config.kernels = kernels;
  config.detail = &detail;
  goldcrest_engine* engine = nullptr;
  int status = goldcrest_init(&engine, &config);
  if (status < 0) return failed("init", status, detail);
  status = goldcrest_self_test(engine, &detail);
  if (status < 0) return failed("self-test", status, detail);
  goldcrest_search search = {};
  search.beam_size = 1;
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  status = goldcrest_set_search(engine, &search);
  if (status < 0) return failed("search", status, detail);

  const uint64_t start = board_ticks();
  std::string_view words(golden_words, static_cast<size_t>(golden_words_end - golden_words)), previous;
  uint64_t hash = kHashStart;
  unsigned n_words = 0, n_tokens = 0;
  while (n_words < GOLDCREST_GOLDEN_WORDS && !words.empty()) {
    const std::string_view word = next_word(&words);
    if (word == previous) continue;  // a source with several references counts once
    previous = word;
    status = goldcrest_begin_text(engine, word.data(), word.size());
    if (status >= 0) status = goldcrest_run(engine);
    goldcrest_result result = {};
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
    if (status < 0) return failed("a word", status, detail);
    hash = hash_halves(hash, result.logits_hash);
    n_tokens += result.n_tokens;
    ++n_words;
  }
  const double seconds = static_cast<double>(board_ticks() - start) / board_ticks_per_second();
  std::printf("%-16s %u words, %u tokens, %.1f s, hash %08" PRIx32 "%08" PRIx32 " %s\n", kernels, n_words, n_tokens,
              seconds, static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash),
              hash == expected ? "same" : "DIFFERENT");
  return hash == expected;
}

}  // namespace
}  // namespace goldcrest

int main() {
  board_init();
  const uint64_t expected = std::strtoull(golden_hash, nullptr, 16);
  bool all_pass = expected != 0 && goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; i < GOLDCREST_GOLDEN_TABLES && goldcrest_kernels_at(i) != nullptr; ++i) {
    all_pass &= goldcrest::passes(goldcrest_kernels_at(i), expected);
  }
  return all_pass ? 0 : 1;
}
