// SPDX-License-Identifier: Apache-2.0
// Beam search written only from its rules: whole prefixes, no caches, doubles. Its logits are the engine's own: one
// greedy engine is forced along each prefix, so int8 numbers agree to the bit. So tests compare only the search: its
// order, its finishing rule, and whether reordered beams keep each hypothesis's past.
#pragma once

#include "goldcrest/decoding.h"
#include "support/engine_fixture.h"
#include "support/standard.h"
#include "support/tiny_model.h"

namespace goldcrest::test {
// The logits of each position.
using TracedRows = std::vector<std::vector<float>>;

// An engine's setup that appends the logits of its searches to these rows.
EngineSetup logits_setup(TracedRows* rows);

// Returns the decoder's logits after a prefix.
class PrefixLogits {
 public:
  // `model` must outlive this object.
  PrefixLogits(std::span<const uint8_t> model, std::vector<int32_t> source, uint32_t max_target_tokens);

  // Returns the logits of the token after `prefix`, which has generated ids without the start token and is shorter than
  // max_target_tokens - 1.
  const std::vector<float>& after(const std::vector<int32_t>& prefix);
  uint32_t vocab_size() const { return engine_.info().target_vocab_size; }
  const std::vector<int32_t>& source() const { return source_; }
  size_t source_tokens() const { return source_.size(); }
 private:
  void decode_along(const std::vector<int32_t>& prefix);

  std::vector<int32_t> source_;
  std::map<std::vector<int32_t>, std::vector<float>> known_;
  TracedRows traced_;
  TestEngine engine_;
};

struct NaiveOptions {
  goldcrest_search search;  // has every default filled in
  uint32_t end_id;
  int32_t forced_first_id;  // -1: none
  std::vector<uint32_t> suppressed_ids;
  converter::RulesSpec rules = {};
  uint32_t start_id = 0;                  // rules count it among the tokens of a text
  std::vector<uint32_t> candidates = {};  // the only ids that can be chosen; none: all ids
  // The ids that may follow a prefix; null: all. Rules come first.
  std::function<std::vector<uint32_t>(const std::vector<int32_t>&)> allowed = nullptr;
  converter::SequencesSpec sequences = {};
};

struct NaiveHypothesis {
  std::vector<int32_t> tokens;
  double log_prob = 0, score = 0;
};

// Returns at most beam_size hypotheses, best first.
std::vector<NaiveHypothesis> naive_beam_search(PrefixLogits& logits, const NaiveOptions& options);

// Log-probabilities are those of the logits after the rules.
NaiveHypothesis naive_greedy_search(PrefixLogits& logits, const NaiveOptions& options);

// Searches for one source with the rules and sequences of `spec`, and with the options that `change` sets. The logits
// are those of the same model without rules, sequences and shortlist.
std::vector<NaiveHypothesis> naive_results(const ModelSpec& spec, const goldcrest_search& search,
    const std::vector<int32_t>& source, const std::function<void(NaiveOptions&)>& change = nullptr);

// Searches with an engine that is planned for this search, and with a caller's sequences, if any.
std::vector<Translation> engine_results(const ModelSpec& spec, const goldcrest_search& search,
    const std::vector<int32_t>& source, const goldcrest_sequences* sequences = nullptr);

void expect_same(const std::vector<Translation>& found, const std::vector<NaiveHypothesis>& expected, double tolerance);
}  // namespace goldcrest::test
