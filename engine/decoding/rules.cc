// SPDX-License-Identifier: Apache-2.0
// What the rules make of a block of values (transformers/generation/logits_process.py at v5.23). The past is read again
// for each block: that needs no memory, and is little work beside the block's products.
#include "decoding/rules.h"

namespace goldcrest {

namespace {

constexpr float kNever = -__builtin_huge_valf();

void add_biases(const GenerationView& generation, const BlockValues& block) {
  for (uint32_t i = 0; i < generation.n_biased; ++i) {
    float* const value = block.of(static_cast<int32_t>(generation.biased_ids[i]));
    if (value != nullptr) *value += generation.biases[i];
  }
}

// Once for each token of the past, however often it came.
void penalize_repetition(float penalty, const Past& past, const BlockValues& block) {
  for (uint32_t t = 0; t < past.n_tokens; ++t) {
    const int32_t token = past.at(t);
    float* const value = block.of(token);
    if (value == nullptr) continue;
    uint32_t earlier = 0;
    while (earlier < t && past.at(earlier) != token) ++earlier;
    if (earlier < t) continue;
    *value = *value < 0.0f ? *value * penalty : *value / penalty;
  }
}

// Removes every token that would end a run of n which the past already has.
void forbid_ngrams(uint32_t n, const Past& past, const BlockValues& block) {
  for (uint32_t end = n - 1; end < past.n_tokens; ++end) {
    float* const value = block.of(past.at(end));
    if (value == nullptr) continue;
    uint32_t same = 1;
    while (same < n && past.at(end - same) == past.at(past.n_tokens - same)) ++same;
    if (same == n) *value = kNever;
  }
}

// `factor` times n, rounded up, or `most` where that is less.
uint32_t times_at_most(float factor, uint32_t n, uint32_t most) {
  const float product = factor * static_cast<float>(n);
  if (!(product < static_cast<float>(most))) return most;
  const uint32_t whole = static_cast<uint32_t>(product);
  return static_cast<float>(whole) < product ? whole + 1 : whole;
}

}  // namespace

uint32_t most_tokens_by_rules(const Search& search, uint32_t sentence) {
  const goldcrest_search& options = search.options;
  const uint32_t n_source = search.batch->sentences[sentence].n_rows, extra = options.max_extra_tokens;
  uint32_t most = options.max_target_tokens;
  if (extra < most) most = smaller(most, n_source + extra);
  return times_at_most(options.max_length_factor, n_source, most);
}

Past past_of(const Search& search, const LiveSentence& sentence, uint32_t row) {
  const Runtime& runtime = *search.runtime;
  const goldcrest_limits& limits = runtime.limits;
  Past past;
  past.tokens = runtime.buffer<int32_t>(search.refs.tokens) + sentence.first_slot;
  past.ancestor = limits.beam_size > 1 ? runtime.buffer<uint8_t>(search.refs.ancestor) + sentence.first_past : nullptr;
  past.n_slots = count_slots(limits);
  past.beam_size = limits.beam_size;
  past.b = row - sentence.first_row;
  past.n_tokens = search.position + 1;
  return past;
}

void apply_rules(const Search& search, const Past& past, const BlockValues& block) {
  const goldcrest_search& options = search.options;
  add_biases(search.runtime->generation, block);
  if (penalizes_repetition(options)) penalize_repetition(options.repetition_penalty, past, block);
  if (forbids_ngrams(options)) forbid_ngrams(options.no_repeat_ngram, past, block);
}

}  // namespace goldcrest
