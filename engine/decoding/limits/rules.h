// SPDX-License-Identifier: Apache-2.0
// The stages of a file's rules, in transformers' order (transformers/generation/logits_process.py at v5.23): greedy
// search changes logits, beams with a repetition penalty change log-probabilities.
#pragma once

#include "decoding/outputs/stages.h"

namespace goldcrest {
// Returns whether rules change values before tokens are listed.
inline bool changes_logits(const SearchOptions& options) {
  return has_biases(options) || penalizes_repetition(options) || forbids_ngrams(options) || has_sequences(options);
}

// Returns whether tokens are listed by log-probability: beams apply the repetition penalty to log-probabilities.
inline bool lists_log_probs(const SearchOptions& options) {
  return penalizes_repetition(options) && options.strategy->by_log_prob;
}

// Returns whether the log-sum-exp of a row covers the values after rules and masks. That is so if the search
// renormalizes, and in greedy search with changed logits: its scores must subtract the sum of the values that it lists.
// Scoring a given target ignores rules.
bool sums_changed_values(const SearchOptions& options);
inline bool sums_after_rules(const SearchOptions& options) { return kHasSearch && sums_changed_values(options); }

// Returns whether the pass that lists a block's tokens also computes the sums of its logits.
inline bool sums_logits(const SearchOptions& options) {
  return options.needs_sums && !sums_after_rules(options) && !lists_log_probs(options) && !has_lexicon(options);
}

// Turns logits into log-probabilities.
class LogProbabilities {
 public:
  explicit LogProbabilities(const OutputStep& step) : runs_(lists_log_probs(step.options)), step_(step) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return true; }
  bool run(const LogitBlock& block) const;
 private:
  const bool runs_;
  const OutputStep& step_;
};

// Adds the file's biases to the values of their tokens.
class AddBiases {
 public:
  explicit AddBiases(const OutputStep& step) : runs_(has_biases(step.options)), generation_(*step.options.generation) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const;
 private:
  const bool runs_;
  const GenerationView& generation_;
};

// Returns the past of a row's hypothesis.
Past past_of(const OutputStep& step, uint32_t row);

// A stage that looks at the past of each row.
class StageOfPast {
 public:
  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
 protected:
  StageOfPast(bool runs, const OutputStep& step) : runs_(runs), step_(step) {}

  const bool runs_;
  const OutputStep& step_;
};

// Adds the biases of sequences (goldcrest_set_sequences) to the values of the tokens that complete one. Removes the
// tokens that would complete an n-gram of the row's source.
class ApplySequences : public StageOfPast {
 public:
  explicit ApplySequences(const OutputStep& step) : StageOfPast(has_sequences(step.options), step) {}
  bool run(const LogitBlock& block) const;
};

// Penalizes each token of the row's past once, however often it occurs there.
class PenalizeRepetition : public StageOfPast {
 public:
  explicit PenalizeRepetition(const OutputStep& step) : StageOfPast(penalizes_repetition(step.options), step) {}
  bool run(const LogitBlock& block) const;
};

// Removes every token that would complete an n-gram which the row's past already contains.
class ForbidNgrams : public StageOfPast {
 public:
  explicit ForbidNgrams(const OutputStep& step) : StageOfPast(forbids_ngrams(step.options), step) {}
  bool run(const LogitBlock& block) const;
};

// Removes the ids that must not follow in a result with timestamps; all timestamps in one without.
class ApplyTimestamps : public StageOfPast {
 public:
  explicit ApplyTimestamps(const OutputStep& step) : StageOfPast(has_timestamps(step.options), step) {}
  bool run(const LogitBlock& block) const;
};

// A result with timestamps goes on with one where all of them together are more likely than the likeliest other id. So
// their sums are apart from those of text: in the slots of their blocks, and for the block that has both in the slot
// after the last block's.

// Returns how many outputs of a block, which has all ids, are ids below `id`.
uint32_t count_below(const LogitBlock& block, uint32_t id);

// Computes the sums of a block's outputs from `first` on.
void sum_timestamps(const LogitBlock& block, uint32_t first, size_t slot);

// Call it for each row when its blocks are listed. Returns whether a timestamp must follow: then the row's list is
// empty, and only timestamps are to be listed in it, in a step with times_only.
bool choose_timestamps(const SearchOptions& options, const TopTokens& lists, uint32_t row);
inline bool takes_only_times(const TopTokens& lists, uint32_t row) {
  return lists.block_max[size_t{row} * lists.block_stride] == kNever;
}

// Computes the sums of a block from the values that the stages before it left. A lexicon has sums of its own.
class SumAfterRules {
 public:
  explicit SumAfterRules(const OutputStep& step)
      : sums_(sums_after_rules(step.options) && !has_lexicon(step.options)), step_(step) {}

  bool runs() const { return sums_ || finds_timestamps(step_.options); }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const;
 private:
  const bool sums_;
  const OutputStep& step_;
};
}  // namespace goldcrest
