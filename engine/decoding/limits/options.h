// SPDX-License-Identifier: Apache-2.0
// The options of a search, set by the caller and by the file. They are constant while the search runs. In builds
// without GOLDCREST_SEARCH, each question about rules is a constant, so that the compiler drops the code that depends
// on it.
#pragma once

#include "base/arithmetic.h"
#include "base/build_options.h"
#include "decoding/search/strategy.h"
#include "goldcrest/decoding.h"
#include "layers/runtime.h"

namespace goldcrest {
// The settings of sampling or of alternatives, and the strategy that the caller's function chose for them: a program
// that never calls it has no code of a draw.
struct Sampler : goldcrest_sampling {
  const Strategy* strategy;
  bool expands;  // samples are alternatives: the best first tokens, each with the best text after it
};

// The caller's options with every default filled in, and the values that follow from them.
struct SearchOptions : goldcrest_search {
  const ModelView* model;
  const GenerationView* generation;
  const Strategy* strategy;
  uint32_t n_sentences;
  uint32_t list_size;                    // tokens in each row's list of its best
  bool needs_sums;                       // log-probabilities are computed
  bool follows_targets;                  // scores given targets instead of searching (goldcrest_score)
  bool uses_shortlist;                   // each sentence may have outputs of its own, by a shortlist or lexicon
  bool records_alignments;               // if so, every position runs the layers
  const Sampler* sampling;               // null: off; set before the others, and not by set_options
  const goldcrest_sequences* sequences;  // the file's or the caller's; null: none; set like `sampling`
  const goldcrest_lexicon* lexicon;      // null: none; set like `sampling`
};

// *options <- the options for n_sentences: of a search, or of scoring their targets if follows_targets.
void set_options(const Runtime& runtime, const goldcrest_search& wanted, uint32_t n_sentences, bool follows_targets,
    SearchOptions* options);

// Returns whether to hash the logits of each sentence. Only a strategy with one hypothesis can.
inline bool hashes_logits(const SearchOptions& options) {
  return options.strategy->one_hypothesis && (options.flags & GOLDCREST_SEARCH_HASH_LOGITS) != 0;
}

// Returns whether given targets are scored, in place of a search.
inline bool scores_targets(const SearchOptions& options) { return kHasInspection && options.follows_targets; }

// Returns whether a sentence may have outputs of its own.
inline bool chooses_outputs(const SearchOptions& options) { return kHasShortlist && options.uses_shortlist; }

// Returns whether tokens are drawn at random. Scoring a given target is not.
inline bool draws_tokens(const SearchOptions& options) {
  return kHasSearch && options.sampling != nullptr && !options.follows_targets;
}
inline bool expands_alternatives(const SearchOptions& options) {
  return draws_tokens(options) && options.sampling->expands;
}
inline bool draws_several(const SearchOptions& options) {
  return draws_tokens(options) && options.sampling->n_samples > 1;
}

// Returns whether texts are restricted to a lexicon. A given target is not.
inline bool has_lexicon(const SearchOptions& options) {
  return kHasShortlist && options.lexicon != nullptr && !options.follows_targets;
}

inline bool has_sequences(const SearchOptions& options) { return kHasSearch && options.sequences != nullptr; }

inline bool has_biases(const SearchOptions& options) { return kHasSearch && options.generation->n_biased > 0; }

inline bool renormalizes(const goldcrest_search& options) { return kHasSearch && options.renormalize == GOLDCREST_YES; }
inline bool forces_end(const goldcrest_search& options) { return !kHasSearch || options.force_end == GOLDCREST_YES; }
inline bool stops_when_full(const goldcrest_search& options) {
  return kHasSearch && options.early_stopping == GOLDCREST_STOP_FULL;
}
inline bool penalizes_repetition(const goldcrest_search& options) {
  return kHasSearch && options.repetition_penalty != 1.0f;
}
inline bool forbids_ngrams(const goldcrest_search& options) {
  return kHasSearch && options.no_repeat_ngram <= options.max_target_tokens;
}

// Returns whether the file has ids that are times, and whether results have them.
inline bool has_timestamps(const SearchOptions& options) {
  return kHasTimestamps && options.generation->first_timestamp != 0;
}
inline bool finds_timestamps(const SearchOptions& options) {
  return has_timestamps(options) && (options.flags & GOLDCREST_SEARCH_TIMESTAMPS) != 0 && !options.follows_targets &&
         !has_lexicon(options);
}

inline uint32_t count_more_ends(const GenerationView& generation) { return kHasSearch ? generation.n_more_ends : 0; }

inline bool is_end(const GenerationView& generation, int32_t token) {
  if (token == static_cast<int32_t>(generation.end_id)) return true;
  for (uint32_t i = 0; i < count_more_ends(generation); ++i)
    if (token == static_cast<int32_t>(generation.more_end_ids[i])) return true;
  return false;
}

// Returns the most tokens that rules and limits allow for a source of n_source ids, or encoder rows of a clip.
uint32_t most_tokens_by_source(const SearchOptions& options, uint32_t n_source);

inline uint32_t most_target_tokens(const SearchOptions& options, uint32_t n_source) {
  return kHasSearch || kHasSpeech ? most_tokens_by_source(options, n_source) : options.max_target_tokens;
}
}  // namespace goldcrest
