// SPDX-License-Identifier: Apache-2.0
// Greedy and beam search over the float reference, as in transformers' generate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include "reference/reference.h"

namespace goldcrest::converter {
struct SearchOptions {
  uint32_t beam_size = 1;          // 1: greedy
  uint32_t min_target_tokens = 0;  // the end token is not chosen before this many ids, itself included
  uint32_t max_target_tokens = 0;  // the end token is forced as this id; at least 1
  float length_penalty = 1;        // score = (log_prob - word_penalty * n) / n^length_penalty, n ids with the end token
  float word_penalty = 0;
  uint32_t n_best = 1;  // hypotheses returned, at most beam_size
  RulesSpec rules = {};
  std::vector<int32_t> prefix = {};   // ids with which results begin, in place of the model's prompt
  bool prefix_in_lengths = false;     // it counts in lengths
  bool prefix_behind_prompt = false;  // it follows the model's prompt
  uint32_t max_candidates = 0;        // a source with more candidates is searched among all ids; 0: no bound
};

// Returns the model's own generation settings, with max_target_tokens bounded by the decoder's positions. With a
// shortlist, every source is searched among its candidates.
SearchOptions default_search(const ModelSpec& spec);

struct Hypothesis {
  std::vector<int32_t> tokens;  // start token left out, prompt and end token kept
  double log_prob = 0;          // sum over the tokens; a forced token adds 0
  double score = 0;             // the search ranks by it
};

// Returns the best hypotheses of one source, best first; never empty. Throws Error for impossible options or an
// impossible source.
std::vector<Hypothesis> search(const Reference& reference, const Source& source, const SearchOptions& options);

// Returns the log-probabilities that a search among all ids sees for the tokens of `target`. Suppressed and forbidden
// tokens have minus infinity, forced ones 0.
std::vector<double> token_log_probs(
    const Reference& reference, const Source& source, std::span<const int32_t> target, const SearchOptions& options);

// (log_prob - word_penalty * n) / n^length_penalty, or with the penalty's other kind.
double length_normalized_score(double log_prob, size_t n, const SearchOptions& options);
}  // namespace goldcrest::converter
