// SPDX-License-Identifier: Apache-2.0
// Beam search with the finishing rules of Hugging Face transformers' generate (5.23.0). It sorts the continuations of
// all live hypotheses. An end token among the first beam_size finishes a hypothesis; the best beam_size others live on.
// The search stops once beam_size hypotheses are finished. With early_stopping=False it goes on while the best living
// hypothesis could still enter their list at its present length. Ties: the earlier parent comes first, then the order
// of that parent's list.
#include "base/exact_floats.h"
#include <string.h>
#include "base/bounds.h"
#include "decoding/outputs/output_layer.h"
#include "decoding/search/hypotheses.h"

namespace goldcrest {
namespace {
// With n end ids, up to n * beam_size of the best tokens may be ends, and beam_size others must be left to live on.
uint32_t list_size(const goldcrest_search& options, uint32_t n_ends) { return (1 + n_ends) * options.beam_size; }

// Merges the sorted lists of all live hypotheses: yields their continuations, best first.
class Continuations {
 public:
  Continuations(const SearchOptions& options, const SentenceView& view, const TopTokens& lists)
      : view_(view), lists_(lists) {
    for (uint32_t b = 0; b < view.state->n_live; ++b) {
      normalizer_[b] = row_normalizer(options, lists, view.state->first_row + b);
      taken_[b] = 0;
    }
  }

  // Returns false if none is left.
  bool next(Continuation* best) {
    bool found = false;
    for (uint32_t b = 0; b < view_.state->n_live; ++b) {
      const uint32_t row = view_.state->first_row + b;
      if (taken_[b] == lists_.counts[row]) continue;
      const float token_log_prob = lists_.row_values(row)[taken_[b]] - normalizer_[b];
      const float log_prob = view_.scores[b] + token_log_prob;
      if (found && !(log_prob > best->log_prob)) continue;
      *best = {log_prob, token_log_prob, b, lists_.row_tokens(row)[taken_[b]]};
      found = true;
    }
    if (found) ++taken_[best->parent];
    return found;
  }
 private:
  const SentenceView& view_;
  const TopTokens& lists_;
  float normalizer_[kMaxBeams];
  uint32_t taken_[kMaxBeams];
};

bool needs_sums(const goldcrest_search&) { return true; }

// Returns whether the best living hypothesis could still enter the list of finished ones. log_prob includes its token
// at `position`.
bool can_still_improve(const SearchOptions& options, uint32_t position, const SentenceView& view, float log_prob) {
  if (view.state->n_finished < options.beam_size) return true;
  if (stops_when_full(options)) return false;
  const bool at_any_length =
      kHasSearch && options.early_stopping == GOLDCREST_STOP_NEVER && options.length_penalty > 0.0f;
  const uint32_t n_tokens = at_any_length ? most_tokens(options, view) : position + 1;
  const float score = hypothesis_score(options, log_prob, counted_tokens(options, view, n_tokens));
  return !(view.hypotheses[options.beam_size - 1].score >= score);
}

int32_t choose(const SearchOptions& options, uint32_t position, const SentenceView& view, const TopTokens& lists) {
  const uint32_t beam_size = options.beam_size;
  Continuations continuations(options, view, lists);
  Continuation continuation, living[kMaxBeams];
  uint32_t n_living = 0;
  for (uint32_t rank = 0; rank < options.list_size && n_living < beam_size && continuations.next(&continuation);
       ++rank) {
    if (ends_text(options, view, position, continuation.token)) {
      if (rank < beam_size) finish_hypothesis(options, view, position, continuation);
    } else {
      living[n_living++] = continuation;
    }
  }

  if (n_living == 0 && view.state->n_finished == 0) {  // every token is suppressed: end, as in greedy search
    finish_hypothesis(
        options, view, position, {view.scores[0], 0.0f, 0, static_cast<int32_t>(options.generation->end_id)});
  }
  if (n_living > 0 && can_still_improve(options, position, view, living[0].log_prob))
    reorder(view, position, living, n_living);
  else view.state->n_live = 0;
  return -1;
}
}  // namespace

// Goes backwards from the last position and stops where nothing changes: hypotheses that meet in a slot share
// everything before it. If there are more hypotheses than parents, it does not stop, because the entries of the new
// ones are empty.
void reorder(const SentenceView& view, uint32_t position, const Continuation* chosen, uint32_t n_chosen) {
  bool changed = view.ancestor != nullptr;
  for (uint32_t t = position + 1; t > 0 && changed; --t) {
    uint8_t* ancestor = view.ancestor + size_t{t - 1} * view.beam_size;
    uint8_t reordered[kMaxBeams];
    for (uint32_t b = 0; b < n_chosen; ++b) reordered[b] = ancestor[chosen[b].parent];
    changed = n_chosen > view.state->n_live || memcmp(ancestor, reordered, n_chosen) != 0;
    memcpy(ancestor, reordered, n_chosen);
  }
  for (uint32_t b = 0; b < n_chosen; ++b) {
    feed_token(view, position, b, chosen[b].token, chosen[b].token_log_prob);
    view.scores[b] = chosen[b].log_prob;
  }
  view.state->n_live = static_cast<uint8_t>(n_chosen);
}

const Strategy kBeamSearch = {false, true, list_size, needs_sums, choose};
}  // namespace goldcrest
