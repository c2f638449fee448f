// SPDX-License-Identifier: Apache-2.0
// The state of a search over a batch of sentences, and the steps of one target position.
//
// A hypothesis b of sentence s has slot s * beam_size + b. Its past is not copied when beams are reordered: ancestor
// [s][position][b] says which slot of the sentence holds the hypothesis's keys, values and input token at that
// position.
#pragma once

#include "decoding/candidates.h"
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
  uint32_t first_row;  // of its live hypotheses in the current step
  uint32_t reserved;
  uint64_t logits_hash;
};

struct SearchRefs {
  BufferRef sentences;          // SentenceState [batch]
  BufferRef targets;            // TargetSentence [batch]
  BufferRef tokens;             // int32 [target tokens, slots]: input token of each position and slot
  BufferRef ancestor;           // uint8 [batch, target tokens, beam_size]; only with beams
  BufferRef scores;             // float [slots]: log-probability of each live hypothesis
  BufferRef hypotheses;         // Hypothesis [slots]
  BufferRef hypothesis_tokens;  // int32 [slots, target tokens]
  CandidateRefs candidates;
};

SearchRefs plan_search(Plan& plan, const ModelView& model);

// The search of the current batch. Sizes that the memory was planned for come from `limits`.
struct Search {
  SearchRefs refs;
  BufferRef sources;  // Source [batch]
  DecoderRefs decoder;
  goldcrest_limits limits;
  goldcrest_search options;  // every default filled in
  uint32_t n_sentences;
  uint32_t position;   // of the current step; the number of tokens generated before it
  uint32_t n_rows;     // live hypotheses of all sentences
  uint32_t n_targets;  // live sentences
};

inline bool hashes_logits(const goldcrest_search& options) {
  return options.beam_size == 1 && (options.flags & GOLDCREST_SEARCH_HASH_LOGITS) != 0;
}

// How the next token of every hypothesis comes about.
enum class Choice { kByScore, kForcedFirst, kForcedEnd };
Choice next_choice(const Runtime& runtime, const Search& search);

// One hypothesis for each sentence, holding the start token.
void search_start(const Runtime& runtime, Search& search);

// Lists the rows of the current position and embeds their input tokens.
void search_embed(const Runtime& runtime, Search& search);

TargetRows target_rows(const Runtime& runtime, const Search& search);

// The output layer over all rows: candidates, log-sum-exp parts, logits hash.
void search_output(const Runtime& runtime, const Search& search);

// Chooses the next tokens and moves on to the next position. Returns the token chosen for sentence 0 (greedy).
int32_t search_advance(const Runtime& runtime, Search& search, Choice choice);

// (log_prob - word_penalty * n_tokens) / n_tokens^length_penalty
float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens);

// Adds hypothesis b of a sentence, ended by `last` at the current position, to the finished ones if it is good enough.
void finish_hypothesis(const Runtime& runtime, const Search& search, uint32_t sentence, uint32_t b, int32_t last,
                       float log_prob);

// One sentence's choice at the current position: greedy.cc and beam.cc. Return value as search_advance.
int32_t greedy_advance(const Runtime& runtime, const Search& search, uint32_t sentence);
void beam_advance(const Runtime& runtime, const Search& search, uint32_t sentence);

// The parts of a sentence's state.
struct SentenceView {
  SentenceState* state;
  uint8_t* ancestor;           // [target tokens, beam_size] or null
  int32_t* tokens;             // token of slot b at position t: tokens[t * n_slots + b]
  float* scores;               // [beam_size]
  Hypothesis* hypotheses;      // [beam_size]
  int32_t* hypothesis_tokens;  // [beam_size, target tokens]
  size_t n_slots;
};

SentenceView sentence_view(const Runtime& runtime, const Search& search, uint32_t sentence);

}  // namespace goldcrest
