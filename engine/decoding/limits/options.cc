// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/limits/options.h"
#include "decoding/outputs/shortlist.h"
#include "decoding/search/recording.h"
#include "model/frontend_view.h"

namespace goldcrest {
namespace {
constexpr uint32_t kLeastOfClip = 3;  // tokens that a factor leaves a clip

// Returns `factor` times n, rounded up, but at most `most`.
uint32_t times_at_most(float factor, uint32_t n, uint32_t most) {
  const float product = factor * static_cast<float>(n);
  if (!(product < static_cast<float>(most))) return most;
  const uint32_t whole = static_cast<uint32_t>(product);
  return static_cast<float>(whole) < product ? whole + 1 : whole;
}
}  // namespace

void set_options(const Runtime& runtime, const goldcrest_search& wanted, uint32_t n_sentences, bool follows_targets,
    SearchOptions* options) {
  static_cast<goldcrest_search&>(*options) = wanted;
  options->model = &runtime.model;
  options->generation = &runtime.generation;
  options->n_sentences = n_sentences;
  if constexpr (kHasSpeech && !kHasSearch) options->max_length_factor = view_length_factor(runtime.model.file);
  options->strategy = &strategy_for(wanted);
  options->follows_targets = follows_targets;
  if (draws_tokens(*options)) options->strategy = options->sampling->strategy;
  // An alternative is not the end. With prefixes, whose lengths differ, a stage sees to it.
  const uint32_t first_free = runtime.generation.forced_first_id >= 0 ? 1 : 0;
  if (!kHasPrompt && expands_alternatives(*options) && options->min_target_tokens < first_free + 2)
    options->min_target_tokens = first_free + 2;
  options->records_alignments = records_alignments(runtime.limits);
  // A target is one hypothesis, whose tokens are forced and scored.
  const bool scores = scores_targets(*options);
  if (scores) options->strategy = &kGreedySearch;
  if (scores || records_token_scores(runtime.limits)) options->flags |= GOLDCREST_SEARCH_SCORES;
  options->list_size = options->strategy->list_size(*options, runtime.model.n_ends);
  options->needs_sums = options->strategy->needs_sums(*options);
  // The shortlist applies to searches only; scoring a given target uses the whole vocabulary.
  options->uses_shortlist =
      plans_shortlist(runtime.limits) && !follows_targets && (options->flags & GOLDCREST_SEARCH_ALL_OUTPUTS) == 0;
  if (has_lexicon(*options)) {
    options->renormalize = GOLDCREST_YES;
    // Log-probabilities that rules change are of the whole vocabulary.
    options->uses_shortlist =
        options->uses_shortlist && !(penalizes_repetition(*options) && options->strategy->by_log_prob);
  }
}

uint32_t most_tokens_by_source(const SearchOptions& options, uint32_t n_source) {
  uint32_t most = options.max_target_tokens;
  if constexpr (kHasSearch) {
    const uint32_t extra = options.max_extra_tokens;
    if (extra < most) most = smaller(most, n_source + extra);
  }
  const uint32_t by_factor = times_at_most(options.max_length_factor, n_source, most);
  if (!has_frontend(*options.model) || by_factor >= kLeastOfClip) return by_factor;
  return smaller(most, kLeastOfClip);
}
}  // namespace goldcrest
