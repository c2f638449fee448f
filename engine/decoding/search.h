// SPDX-License-Identifier: Apache-2.0
// The state of a search over a batch of sentences, and the steps of one target position.
//
// A hypothesis b of sentence s has slot s * beam_size + b. Its past is not copied when beams are reordered: ancestor
// [s][position][b] says which slot of the sentence holds the hypothesis's keys, values and input token at that
// position.
#pragma once

#include "decoding/candidates.h"
#include "decoding/inspection.h"
#include "decoding/shortlist.h"
#include "decoding/strategy.h"
#include "layers/decoder.h"

namespace goldcrest {

// A finished result. `storage` names its tokens' place; the list of a sentence is sorted by score, best first.
struct Hypothesis {
  float score;
  float log_prob;
  uint32_t n_tokens;
  uint32_t storage;
};

struct SentenceState {
  uint32_t n_live;  // hypotheses still growing; 0: the sentence is done
  uint32_t n_finished;
  uint32_t first_row;     // of its live hypotheses in the current step
  uint32_t n_candidates;  // in its shortlist; 0: it has the whole vocabulary
  uint64_t logits_hash;
};

struct SearchRefs {
  BufferRef sentences;          // SentenceState [batch]
  BufferRef live;               // LiveSentence [batch]
  BufferRef tokens;             // int32 [target tokens, slots]: input token of each position and slot
  BufferRef ancestor;           // uint8 [batch, target tokens, beam_size]; only with beams
  BufferRef scores;             // float [slots]: log-probability of each live hypothesis
  BufferRef hypotheses;         // Hypothesis [slots]
  BufferRef hypothesis_tokens;  // int32 [slots, target tokens]
  CandidateRefs candidates;
  ShortlistRefs shortlist;
  InspectionRefs inspection;
};

SearchRefs plan_search(Plan& plan, const ModelView& model);

// The search of the current batch.
struct Search {
  const Runtime* runtime;
  const Batch* batch;
  SearchRefs refs;
  DecoderRefs decoder;
  goldcrest_search options;  // every default filled in
  const Strategy* strategy;  // for the options
  uint32_t position;         // of the current step; the number of tokens generated before it
  uint32_t n_rows;           // live hypotheses of all sentences
  uint32_t n_live;           // live sentences
  bool runs_layers;          // at this position: some sentence, or a hash, wants the decoder's layers
  bool runs_output;          // and the output layer
  bool follows_targets;      // in place of a search: goldcrest_score
  bool uses_shortlist;
};

// One hypothesis for each sentence of the batch, holding the start token; by search.options.
void search_start(Search& search);

// Lists the rows of the current position and embeds their input tokens.
void search_embed(Search& search);

TargetRows target_rows(const Search& search);

// Chooses the next tokens and moves on to the next position. Returns the token chosen for sentence 0, where it has one
// hypothesis.
int32_t search_advance(Search& search);

// Whether the hash of each sentence's logits is wanted: of a strategy with one hypothesis.
inline bool hashes_logits(const Search& search) {
  return search.strategy->one_hypothesis && (search.options.flags & GOLDCREST_SEARCH_HASH_LOGITS) != 0;
}

// (log_prob - word_penalty * n_tokens) / n_tokens^length_penalty, or by the penalty's other kind
float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens);

// The parts of a sentence's state.
struct SentenceView {
  SentenceState* state;
  uint8_t* ancestor;           // [target tokens, beam_size] or null
  int32_t* tokens;             // token of slot b at position t: tokens[t * n_slots + b]
  float* scores;               // [beam_size]
  Hypothesis* hypotheses;      // [beam_size]
  int32_t* hypothesis_tokens;  // [beam_size, target tokens]
  KeptPath kept;
  size_t n_slots;
};

inline size_t count_slots(const goldcrest_limits& limits) { return size_t{limits.batch} * limits.beam_size; }

SentenceView sentence_view(const Search& search, uint32_t sentence);

// The slot that holds hypothesis b's past at position t, up to the current one. There it is b's own; the table does not
// say so yet when the end is forced.
inline uint32_t slot_at(const Search& search, const SentenceView& view, uint32_t b, uint32_t t) {
  return view.ancestor && t < search.position ? view.ancestor[t * search.runtime->limits.beam_size + b] : b;
}

// Outputs that are computed for each of a sentence's rows.
inline uint32_t count_outputs(const Search& search, uint32_t sentence) {
  if (kHasShortlist && search.uses_shortlist) {
    const uint32_t n = search.runtime->buffer<SentenceState>(search.refs.sentences)[sentence].n_candidates;
    if (n > 0) return n;
  }
  return search.runtime->model.vocab_size;
}

// A living hypothesis of a sentence and its next token.
struct Continuation {
  float log_prob, token_log_prob;  // of both, and of the token alone
  uint32_t parent;
  int32_t token;
};

// Adds a hypothesis whose last token is at the current position to the finished ones if it is good enough.
void finish_hypothesis(const Search& search, const SentenceView& view, const Continuation& last);

}  // namespace goldcrest
