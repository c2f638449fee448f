// SPDX-License-Identifier: Apache-2.0
// The results of searches for the first words of a list, as one hash: ids, log-probabilities and scores. Searches are
// greedy and with beam 4 (all n best), by the file's rules. It needs no heap, so boards run it, too.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

constexpr uint32_t kSearchedWords = 6;

// Continues *hash by all results of a word. Returns a status.
inline int hash_search(goldcrest_engine* engine, std::string_view word, uint64_t* hash) {
  int status = goldcrest_begin_text(engine, word.data(), word.size());
  if (status >= 0) status = goldcrest_run(engine);
  goldcrest_result result;
  for (uint32_t rank = 0; status >= 0 && goldcrest_get_result(engine, 0, rank, &result) >= 0; ++rank) {
    for (uint32_t i = 0; i < result.n_tokens; ++i) *hash = hash_word(*hash, static_cast<uint32_t>(result.tokens[i]));
    const float scores[] = {result.log_prob, result.score};
    *hash = hash_floats(*hash, scores, 2);
  }
  return status;
}

// Computes *hash of the first kSearchedWords lines of `lines`, each of a word, a tab and more. The engine must be
// planned for beam 4 and four results. Returns a status.
inline int hash_searches(goldcrest_engine* engine, std::string_view lines, uint64_t* hash) {
  *hash = kHashStart;
  int status = GOLDCREST_OK;
  for (uint32_t i = 0; i < kSearchedWords && status >= 0; ++i) {
    const std::string_view word = lines.substr(0, lines.find('\t'));
    lines.remove_prefix(lines.find('\n') + 1);
    for (const uint32_t beam_size : {1u, 4u}) {
      goldcrest_search search = {};
      search.beam_size = beam_size;
      search.length_penalty = 0.6f;
      search.flags = GOLDCREST_SEARCH_SCORES;
      if (status >= 0) status = goldcrest_set_search(engine, &search);
      if (status >= 0) status = hash_search(engine, word, hash);
    }
  }
  return status;
}

}  // namespace goldcrest::test
