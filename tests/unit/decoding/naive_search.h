// SPDX-License-Identifier: Apache-2.0
// Beam search written down from its rules alone: whole prefixes, no caches, doubles. Its logits are the engine's own,
// one greedy engine forced along each prefix, so that the int8 numbers are the same to the bit and only the search is
// tested: its order, its finishing rule, and that reordering beams keeps each hypothesis's past.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "converter/spec/spec.h"
#include "support/engine_fixture.h"

namespace goldcrest::test {

// What the model's decoder says after a prefix.
class PrefixLogits {
 public:
  // `model` must outlive this.
  PrefixLogits(std::span<const uint8_t> model, std::vector<int32_t> source, uint32_t max_target_tokens);

  // Logits of the token that follows `prefix` (generated ids, the start token left out), which is shorter than
  // max_target_tokens - 1.
  const std::vector<float>& after(const std::vector<int32_t>& prefix);
  uint32_t vocab_size() const { return engine_.info().target_vocab_size; }
  size_t source_tokens() const { return source_.size(); }

 private:
  void decode_along(const std::vector<int32_t>& prefix);

  std::vector<int32_t> source_;
  std::map<std::vector<int32_t>, std::vector<float>> known_;
  std::vector<std::vector<float>> traced_;  // by position
  TestEngine engine_;
};

struct NaiveOptions {
  goldcrest_search search;  // every default filled in
  uint32_t end_id;
  int32_t forced_first_id;  // -1: none
  std::vector<uint32_t> suppressed_ids;
  converter::RulesSpec rules = {};
  uint32_t start_id = 0;                  // counts among the tokens of a text where rules look at them
  std::vector<uint32_t> candidates = {};  // what the search is among; none: all
};

struct NaiveHypothesis {
  std::vector<int32_t> tokens;
  double log_prob = 0, score = 0;
};

// At most beam_size hypotheses, best first.
std::vector<NaiveHypothesis> naive_beam_search(PrefixLogits& logits, const NaiveOptions& options);

// With log-probabilities of what the rules make of logits.
NaiveHypothesis naive_greedy_search(PrefixLogits& logits, const NaiveOptions& options);

}  // namespace goldcrest::test
