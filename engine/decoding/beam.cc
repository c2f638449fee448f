// SPDX-License-Identifier: Apache-2.0
// Beam search with the finishing rules of Hugging Face transformers' generate (5.23.0): of the best continuations, an
// end token among the first beam_size finishes a hypothesis, the best beam_size others live on; the search stops when
// beam_size hypotheses are finished and, for early_stopping=False, the best living one could not enter their list at
// its present length. Equal scores: the earlier parent first, then that parent's own order.
#include <cstring>

#include "base/bounds.h"
#include "decoding/output_layer.h"
#include "decoding/rules.h"

namespace goldcrest {

namespace {

// With n end ids, n * beam_size of the best may be ends, and beam_size others are left to live on.
uint32_t candidates_per_row(const Search& search) {
  return (1 + count_ends(search.runtime->model)) * search.options.beam_size;
}

// The best continuations of all live hypotheses, best first, from the sorted lists of each.
class Continuations {
 public:
  Continuations(const Search& search, uint32_t sentence, const SentenceView& view)
      : view_(view), lists_(lists_of(search, sentence)) {
    for (uint32_t b = 0; b < view.state->n_live; ++b) {
      normalizer_[b] = row_normalizer(search, lists_, view.state->first_row + b);
      taken_[b] = 0;
    }
  }

  // False: there is no other.
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
  static Candidates lists_of(const Search& search, uint32_t sentence) {
    return candidates(*search.runtime, search.refs.candidates, candidates_per_row(search),
                      count_outputs(search, sentence), 0);
  }

  const SentenceView& view_;
  Candidates lists_;
  float normalizer_[kMaxBeams];
  uint32_t taken_[kMaxBeams];
};

// Gives every new hypothesis its parent's past, and its own token and score. From the last position backwards:
// hypotheses that meet in a slot share all before it, so where nothing changes, nothing changes before (unless there
// are more of them than parents: the entries of the new ones are empty).
void reorder(const Search& search, const SentenceView& view, const Continuation* chosen, uint32_t n_chosen) {
  const uint32_t beam_size = search.runtime->limits.beam_size;
  bool changed = true;
  for (uint32_t t = search.position + 1; t > 0 && changed; --t) {
    uint8_t* ancestor = view.ancestor + size_t{t - 1} * beam_size;
    uint8_t reordered[kMaxBeams];
    for (uint32_t b = 0; b < n_chosen; ++b) reordered[b] = ancestor[chosen[b].parent];
    changed = n_chosen > view.state->n_live || memcmp(ancestor, reordered, n_chosen) != 0;
    memcpy(ancestor, reordered, n_chosen);
  }
  int32_t* next_tokens = view.tokens + (search.position + 1) * view.n_slots;
  for (uint32_t b = 0; b < n_chosen; ++b) {
    next_tokens[b] = chosen[b].token;
    view.scores[b] = chosen[b].log_prob;
    if constexpr (kHasInspection) keep_log_prob(search, view, b, chosen[b].token_log_prob);
  }
  view.state->n_live = n_chosen;
}

bool needs_sums(const goldcrest_search&) { return true; }

// Whether the best living hypothesis, whose next token would be at the position after this, could still enter the list
// of finished ones.
bool has_hope(const Search& search, uint32_t sentence, float log_prob) {
  const SentenceView view = sentence_view(search, sentence);
  const goldcrest_search& options = search.options;
  if (view.state->n_finished < options.beam_size) return true;
  if (stops_when_full(options)) return false;
  const bool at_any_length =
      kHasRules && options.early_stopping == GOLDCREST_STOP_NEVER && options.length_penalty > 0.0f;
  const uint32_t n_tokens = at_any_length ? most_target_tokens(search, sentence) : search.position + 1;
  return !(view.hypotheses[options.beam_size - 1].score >= hypothesis_score(options, log_prob, n_tokens));
}

int32_t advance(const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(search, sentence);
  const uint32_t beam_size = search.options.beam_size;
  Continuations continuations(search, sentence, view);
  Continuation continuation, living[kMaxBeams];
  uint32_t n_living = 0;
  const uint32_t most = candidates_per_row(search);
  for (uint32_t rank = 0; rank < most && n_living < beam_size && continuations.next(&continuation); ++rank) {
    if (ends_text(search, sentence, continuation.token)) {
      if (rank < beam_size) finish_hypothesis(search, view, continuation);
    } else {
      living[n_living++] = continuation;
    }
  }

  if (n_living == 0 && view.state->n_finished == 0) {  // everything is suppressed: end, as in greedy search
    finish_hypothesis(search, view, {view.scores[0], 0.0f, 0, static_cast<int32_t>(search.runtime->generation.end_id)});
  }
  if (n_living > 0 && has_hope(search, sentence, living[0].log_prob))
    reorder(search, view, living, n_living);
  else
    view.state->n_live = 0;
  return -1;
}

}  // namespace

const Strategy kBeamSearch = {false, candidates_per_row, needs_sums, advance};

}  // namespace goldcrest
