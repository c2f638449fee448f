// SPDX-License-Identifier: Apache-2.0
// Each block reads the past again: this needs no memory, and is little work compared with the block's products.
#include "base/exact_floats.h"
#include "decoding/limits/rules.h"

namespace goldcrest {
Past past_of(const OutputStep& step, uint32_t row) {
  const LiveSentence& sentence = sentence_of_row(step, row);
  return past_of(step, sentence, row - sentence.first_row);
}

bool sums_changed_values(const SearchOptions& options) {
  if (!options.needs_sums || scores_targets(options)) return false;
  if (renormalizes(options) || finds_timestamps(options)) return true;
  const bool adds_biases = has_biases(options) || has_sequences(options);
  return !options.strategy->by_log_prob && (penalizes_repetition(options) || adds_biases);
}

bool LogProbabilities::run(const LogitBlock& block) const {
  const float log_sum = *decoder_rows(step_.runtime, step_.decoder, block.row);
  for (uint32_t i = 0; i < block.outputs.count; ++i) block.values[i] -= log_sum;
  return true;
}

bool AddBiases::run(const LogitBlock& block) const {
  for (uint32_t i = 0; i < generation_.n_biased; ++i) {
    float* const value = block.of(generation_.biased_ids[i]);
    if (value != nullptr) *value += generation_.biases[i];
  }
  return true;
}

bool PenalizeRepetition::run(const LogitBlock& block) const {
  const float penalty = step_.options.repetition_penalty;
  const Past past = past_of(step_, block.row);
  for (uint32_t t = 0; t <= past.position; ++t) {
    const int32_t token = past.token_at(t);
    float* const value = block.of(static_cast<uint32_t>(token));
    if (value == nullptr) continue;
    uint32_t earlier = 0;
    while (earlier < t && past.token_at(earlier) != token) ++earlier;
    if (earlier < t) continue;
    *value = *value < 0.0f ? *value * penalty : *value / penalty;
  }
  return true;
}

bool ForbidNgrams::run(const LogitBlock& block) const {
  const uint32_t n = step_.options.no_repeat_ngram;
  const Past past = past_of(step_, block.row);
  const uint32_t n_tokens = past.position + 1;
  for (uint32_t end = n - 1; end < n_tokens; ++end) {
    float* const value = block.of(static_cast<uint32_t>(past.token_at(end)));
    if (value == nullptr) continue;
    uint32_t same = 1;
    while (same < n && past.token_at(end - same) == past.token_at(n_tokens - same)) ++same;
    if (same == n) *value = kNever;
  }
  return true;
}

bool SumAfterRules::run(const LogitBlock& block) const {
  const TopTokens& lists = block.lists;
  const size_t row = size_t{block.row} * lists.block_stride, sum = row + block.index();
  uint32_t n = block.outputs.count;
  if (finds_timestamps(step_.options)) {
    n = count_below(block, step_.options.generation->first_timestamp);
    if (n < block.outputs.count) sum_timestamps(block, n, n == 0 ? sum : row + count_output_blocks(block.set.n));
  }
  if (!sums_ || n == 0 || step_.times_only) return true;
  step_.runtime.kernels->logit_sums(
      {block.values, lists.block_max + sum, lists.block_sum + sum, kOutputBlock, lists.block_stride, 1, n});
  return true;
}
}  // namespace goldcrest
