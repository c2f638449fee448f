// SPDX-License-Identifier: Apache-2.0
// The results of searches for the first words of a list, as one hash: ids, log-probabilities and scores. Searches are
// greedy and with beam 4 (all n best), by the file's rules. It needs no heap, so boards run it, too.
#pragma once

#include <cstdint>
#include <string_view>
#include "base/hash.h"
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"

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
      goldcrest_search search = {.beam_size = beam_size, .length_penalty = 0.6f, .flags = GOLDCREST_SEARCH_SCORES};
      if (status >= 0) status = goldcrest_set_search(engine, &search);
      if (status >= 0) status = hash_search(engine, word, hash);
    }
  }
  return status;
}

constexpr uint32_t kSampledWords = 25, kSamples = 4;  // 100 texts

// Computes *hash of kSamples texts, drawn at random, of each of the first kSampledWords lines of `lines`: their results
// as in hash_searches. The engine must be planned for beam 4, four results and max_sampled 20. Returns a status.
inline int hash_samples(goldcrest_engine* engine, std::string_view lines, uint64_t* hash) {
  *hash = kHashStart;
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_SCORES};
  goldcrest_sampling sampling = {20261125, 1.5f, 20, 0.95f, 0.01f, kSamples, 0};
  int status = goldcrest_set_search(engine, &search);
  if (status >= 0) status = goldcrest_set_sampling(engine, &sampling);
  for (uint32_t i = 0; i < kSampledWords && status >= 0; ++i) {
    sampling.seed = sampling.seed * 3 + i;
    if (status >= 0) status = goldcrest_set_sampling(engine, &sampling);
    if (status >= 0) status = hash_search(engine, lines.substr(0, lines.find('\t')), hash);
    lines.remove_prefix(lines.find('\n') + 1);
  }
  return status;
}

// Everything that inspection shows of a model's searches for the first words of a list, as one hash: ids, token scores
// and every alignment. Covers the n best and a given target. It needs no heap, so boards run it, too.

constexpr uint32_t kInspectedWords = 12;

// An engine with goldcrest_limits.inspection 3, GOLDCREST_ALL_LAYERS and at most kMaxInspectedSource source tokens.
struct InspectedEngine {
  goldcrest_engine* engine;
  uint32_t n_layers, n_heads;  // the decoder's
};
constexpr uint32_t kMaxInspectedSource = 64;

// Continues *hash by a result's ids, token scores and alignments. Returns a status.
inline int hash_result(
    const InspectedEngine& inspected, uint32_t rank, const goldcrest_result& result, uint64_t* hash) {
  float weights[kMaxInspectedSource];
  *hash = hash_floats(*hash, result.token_log_probs, result.n_tokens);
  for (uint32_t token = 0; token < result.n_tokens; ++token) {
    *hash = hash_word(*hash, static_cast<uint32_t>(result.tokens[token]));
    for (int32_t layer = -1; layer < static_cast<int32_t>(inspected.n_layers); ++layer) {
      for (int32_t head = -1; head < static_cast<int32_t>(inspected.n_heads); ++head) {
        const goldcrest_alignment wanted = {0, rank, token, layer, head};
        const int n = goldcrest_get_alignment(inspected.engine, &wanted, weights, kMaxInspectedSource);
        if (n < 0) return n;
        *hash = hash_floats(*hash, weights, static_cast<size_t>(n));
      }
    }
  }
  return GOLDCREST_OK;
}

// The same with all results of the stored source.
inline int hash_results(const InspectedEngine& inspected, uint64_t* hash) {
  int status = goldcrest_run(inspected.engine);
  goldcrest_result result;
  for (uint32_t rank = 0; status >= 0 && goldcrest_get_result(inspected.engine, 0, rank, &result) >= 0; ++rank)
    status = hash_result(inspected, rank, result, hash);
  return status;
}

// Computes *hash of the first kInspectedWords lines of `lines`, each of a word, a tab and more. The words are searched,
// then scored with a target. Returns a status.
inline int hash_words(const InspectedEngine& inspected, std::string_view lines, uint64_t* hash) {
  constexpr int32_t kTarget[] = {5, 2, 7, 30, 2};
  *hash = kHashStart;
  int status = GOLDCREST_OK;
  for (uint32_t i = 0; i < kInspectedWords && status >= 0; ++i) {
    const std::string_view word = lines.substr(0, lines.find('\t'));
    lines.remove_prefix(lines.find('\n') + 1);
    status = goldcrest_begin_text(inspected.engine, word.data(), word.size());
    if (status >= 0) status = hash_results(inspected, hash);
    if (status >= 0) status = goldcrest_begin_text(inspected.engine, word.data(), word.size());
    if (status >= 0) status = goldcrest_score(inspected.engine, 0, kTarget, 5);
    if (status >= 0) status = hash_results(inspected, hash);
  }
  return status;
}
}  // namespace goldcrest::test
