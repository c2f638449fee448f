// SPDX-License-Identifier: Apache-2.0
// The rules of a search beyond lengths and suppressed ids. In builds without them (GOLDCREST_RULES) each is a constant,
// so that the compiler drops what it decides.
#pragma once

#include "base/arithmetic.h"
#include "base/build_options.h"
#include "decoding/search.h"

namespace goldcrest {

inline bool renormalizes(const goldcrest_search& options) { return kHasRules && options.renormalize == GOLDCREST_YES; }
inline bool forces_end(const goldcrest_search& options) { return !kHasRules || options.force_end == GOLDCREST_YES; }
inline bool stops_when_full(const goldcrest_search& options) {
  return kHasRules && options.early_stopping == GOLDCREST_STOP_FULL;
}
inline bool penalizes_repetition(const goldcrest_search& options) {
  return kHasRules && options.repetition_penalty != 1.0f;
}
inline bool forbids_ngrams(const goldcrest_search& options) {
  return kHasRules && options.no_repeat_ngram <= options.max_target_tokens;
}

inline bool is_end(const GenerationView& generation, int32_t token) {
  if (token == static_cast<int32_t>(generation.end_id)) return true;
  for (uint32_t i = 0; kHasRules && i < generation.n_more_ends; ++i) {
    if (token == static_cast<int32_t>(generation.more_end_ids[i])) return true;
  }
  return false;
}

inline uint32_t count_ends(const ModelView& model) { return kHasRules ? model.n_ends : 1; }

// The most tokens that a sentence of the search may get by limits and rules.
uint32_t most_tokens_by_rules(const Search& search, uint32_t sentence);

inline uint32_t most_target_tokens(const Search& search, uint32_t sentence) {
  if constexpr (kHasRules) return most_tokens_by_rules(search, sentence);
  return search.options.max_target_tokens;
}

// Whether this is the last position of a sentence.
inline bool is_last_position(const Search& search, uint32_t sentence) {
  return search.position + 1 == most_target_tokens(search, sentence);
}

// Whether `token`, at the current position, is a text's last.
inline bool ends_text(const Search& search, uint32_t sentence, int32_t token) {
  return is_end(search.runtime->generation, token) ||
         (!forces_end(search.options) && is_last_position(search, sentence));
}

// The tokens of a living hypothesis, the start token among them.
struct Past {
  const int32_t* tokens;    // of slot s at position t: tokens[t * n_slots + s]
  const uint8_t* ancestor;  // [positions, beam_size] or null
  size_t n_slots, beam_size;
  uint32_t b;         // the hypothesis
  uint32_t n_tokens;  // at positions 0 .. n_tokens - 1

  int32_t at(uint32_t t) const { return tokens[t * n_slots + (ancestor ? ancestor[t * beam_size + b] : b)]; }
};

Past past_of(const Search& search, const LiveSentence& sentence, uint32_t row);

// A block of values of one row: logits in greedy search, log-probabilities with beams.
struct BlockValues {
  float* values;  // [block.count]
  Range block;    // of the outputs
  const OutputSet& outputs;

  // Of a token; null where the block lacks it.
  float* of(int32_t token) const {
    const uint32_t index = index_in_block(outputs, block, static_cast<uint32_t>(token));
    return index < block.count ? values + index : nullptr;
  }
};

// Changes the values as the rules want, in transformers' order: biases, repetition penalty, n-grams.
void apply_rules(const Search& search, const Past& past, const BlockValues& block);

}  // namespace goldcrest
