// SPDX-License-Identifier: Apache-2.0
// Beam search with the finishing rule of Hugging Face transformers' generate for early_stopping=False (5.23.0):
// of the 2 * beam_size best continuations, an end token among the first beam_size finishes a hypothesis, the best
// beam_size others live on; the search stops when beam_size hypotheses are finished and the best living one could not
// enter their list at its present length. Equal scores: the earlier parent first, then that parent's own order.
#include <cstring>

#include "base/bounds.h"
#include "decoding/search.h"

namespace goldcrest {

namespace {

struct Continuation {
  float log_prob, token_log_prob;  // of the whole, and of its last token
  uint32_t parent;
  int32_t token;
};

// The best continuations of all live hypotheses, from the sorted lists of each.
uint32_t best_continuations(const Candidates& lists, const SentenceView& view, uint32_t wanted, Continuation* best) {
  float normalizer[kMaxBeams];
  uint32_t taken[kMaxBeams];
  const uint32_t n_live = view.state->n_live;
  for (uint32_t b = 0; b < n_live; ++b) {
    normalizer[b] = log_sum_exp(lists, view.state->first_row + b);
    taken[b] = 0;
  }
  uint32_t n = 0;
  for (; n < wanted; ++n) {
    bool found = false;
    for (uint32_t b = 0; b < n_live; ++b) {
      const uint32_t row = view.state->first_row + b;
      if (taken[b] == lists.counts[row]) continue;
      const float token_log_prob = lists.row_values(row)[taken[b]] - normalizer[b];
      const float log_prob = view.scores[b] + token_log_prob;
      if (found && !(log_prob > best[n].log_prob)) continue;
      best[n] = {log_prob, token_log_prob, b, lists.row_tokens(row)[taken[b]]};
      found = true;
    }
    if (!found) break;
    ++taken[best[n].parent];
  }
  return n;
}

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

uint32_t candidates_per_row(const goldcrest_search& options) { return 2 * options.beam_size; }

bool needs_sums(const goldcrest_search&) { return true; }

int32_t advance(const Search& search, uint32_t sentence) {
  const SentenceView view = sentence_view(search, sentence);
  const uint32_t beam_size = search.options.beam_size;
  const int32_t end = static_cast<int32_t>(search.runtime->generation.end_id);
  Continuation continuations[2 * kMaxBeams];
  const Candidates lists = candidates(*search.runtime, search.refs.candidates, 2 * beam_size, 0);
  const uint32_t n = best_continuations(lists, view, 2 * beam_size, continuations);

  uint32_t n_living = 0;
  for (uint32_t rank = 0; rank < n; ++rank) {
    const Continuation& continuation = continuations[rank];
    if (continuation.token == end) {
      if (rank < beam_size) {
        finish_hypothesis(search, view, continuation.parent, continuation.log_prob, {end, continuation.token_log_prob});
      }
    } else if (n_living < beam_size) {
      continuations[n_living++] = continuation;  // n_living <= rank: nothing unread is overwritten
    }
  }

  const SentenceState& state = *view.state;
  if (n_living == 0 && state.n_finished == 0) {  // everything is suppressed: end, as in greedy search
    finish_hypothesis(search, view, 0, view.scores[0], {end, 0.0f});
  }
  const bool no_hope =
      n_living == 0 || (state.n_finished == beam_size &&
                        view.hypotheses[beam_size - 1].score >=
                            hypothesis_score(search.options, continuations[0].log_prob, search.position + 1));
  if (no_hope)
    view.state->n_live = 0;
  else
    reorder(search, view, continuations, n_living);
  return -1;
}

}  // namespace

const Strategy kBeamSearch = {false, candidates_per_row, needs_sums, advance};

}  // namespace goldcrest
