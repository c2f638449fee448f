// SPDX-License-Identifier: Apache-2.0
// Each block reads the sequences and the source again: this needs no memory. The caller's ids may change meanwhile, so
// no length is trusted.
#include "base/exact_floats.h"
#include "decoding/limits/rules.h"

namespace goldcrest {
namespace {
// Adds the bias to the value of the last id if the ids before it are the last of the past.
void bias_completion(const LogitBlock& block, const Past& past, const int32_t* ids, uint32_t n, float bias) {
  float* const value = block.of(static_cast<uint32_t>(ids[n - 1]));
  if (value == nullptr || n - 1 > past.position + 1) return;
  for (uint32_t i = 1; i < n; ++i)
    if (past.token_at(past.position + 1 - i) != ids[n - 1 - i]) return;
  *value = bias == kNever ? kNever : *value + bias;
}
}  // namespace

bool ApplySequences::run(const LogitBlock& block) const {
  const goldcrest_sequences& sequences = *step_.options.sequences;
  const Past past = past_of(step_, block.row);
  for (uint32_t i = 0, at = 0; i < sequences.n; ++i) {
    const uint32_t left = sequences.n_ids - at, n = left != 0 ? static_cast<uint32_t>(sequences.ids[at]) : 0;
    if (n == 0 || n >= left) break;
    bias_completion(block, past, sequences.ids + at + 1, n, sequences.biases != nullptr ? sequences.biases[i] : kNever);
    at += n + 1;
  }
  const uint32_t n = sequences.no_repeat_source_ngram;
  const Sentence& source = sentence_of_row(step_, block.row).source;
  for (uint32_t end = n; n != 0 && end <= source.n_rows; ++end)
    bias_completion(block, past, step_.source_ids + source.first_row + end - n, n, kNever);
  return true;
}
}  // namespace goldcrest
