// SPDX-License-Identifier: Apache-2.0
// Grows, ends and scores the hypotheses of a sentence. Decides which token a position must have.
#pragma once

#include "decoding/limits/options.h"
#include "decoding/search/buffers.h"

namespace goldcrest {
// A living hypothesis of a sentence and its next token.
struct Continuation {
  float log_prob, token_log_prob;  // the hypothesis with the token; the token only
  uint32_t parent;
  int32_t token;
};

// Returns (log_prob - word_penalty * n_tokens) / n_tokens^length_penalty; with GOLDCREST_LENGTH_WU the divisor is
// ((5 + n_tokens) / 6)^length_penalty.
float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens);

// Returns the most tokens that rules and limits allow for the sentence.
inline uint32_t most_tokens(const SearchOptions& options, const SentenceView& sentence) {
  const uint32_t most = most_target_tokens(options, sentence.n_source);
  const PrefixExtent& given = sentence.state->prefix;
  return most_with_prompt(prompt_of(options, given), given, most, sentence.target_tokens);
}

// Returns how many of the sentence's first n tokens count in lengths.
inline uint32_t counted_tokens(const SearchOptions& options, const SentenceView& sentence, uint32_t n) {
  return n - prompt_of(options, sentence.state->prefix).n_uncounted;
}

// Returns the first position whose token is not the prompt's.
inline uint32_t first_free_position(const SearchOptions& options, const SentenceView& sentence) {
  return prompt_of(options, sentence.state->prefix).n;
}

// Returns whether `position` is the last that rules and limits allow for the sentence.
inline bool is_last_position(const SearchOptions& options, const SentenceView& sentence, uint32_t position) {
  return position + 1 == most_tokens(options, sentence);
}

// Returns whether `token` ends the sentence's text at `position`.
inline bool ends_text(const SearchOptions& options, const SentenceView& sentence, uint32_t position, int32_t token) {
  return is_end(*options.generation, token) || (!forces_end(options) && is_last_position(options, sentence, position));
}

// Returns whether a limit ended a text of n tokens that ends with `last`, and not the model's choice of an end token.
inline bool was_cut(const SearchOptions& options, const SentenceView& sentence, uint32_t n, int32_t last) {
  if (options.follows_targets) return false;
  return is_last_position(options, sentence, n - 1) && (forces_end(options) || !is_end(*options.generation, last));
}

// Feeds `token` to slot b at the position after `position`.
inline void feed_token(const SentenceView& sentence, uint32_t position, uint32_t b, int32_t token, float log_prob) {
  const size_t at = (position + 1) * sentence.n_slots + b;
  sentence.tokens[at] = token;
  if (kHasInspection && sentence.recorded.token_log_probs != nullptr) sentence.recorded.token_log_probs[at] = log_prob;
}

// Replaces the living hypotheses: each new one gets the past of its parent, and its own token and score. Without an
// ancestor table there is one, before and after.
[[gnu::noinline]] void reorder(
    const SentenceView& sentence, uint32_t position, const Continuation* chosen, uint32_t n_chosen);

// Adds a hypothesis whose last token is at `position` to the finished ones, if its score is good enough for their list.
void finish_hypothesis(
    const SearchOptions& options, const SentenceView& sentence, uint32_t position, const Continuation& last);

struct ForcedToken {
  bool exists;    // false: the strategy chooses
  bool scored;    // its log-probability counts, so the output layer must run; false: it counts as 0
  bool ends;      // the text ends with it
  int32_t token;  // -1: the best of the first choices, or of what the strategy may choose

  bool needs_layers() const { return !exists || scored || !ends; }
  bool needs_output() const { return scored || token < 0; }
  bool is_first_choice() const { return exists && token < 0; }
};

// The only function that forces a token: the next token of a given target, the end at the last position, the file's
// prompt or first id, or the caller's prefix.
ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position);
}  // namespace goldcrest
