// SPDX-License-Identifier: Apache-2.0
// The buffers that decoding may write, by name.
//
// Hypothesis b of sentence s has slot s * beam_size + b. The ancestor table leads to its past (past.h).
#pragma once

#include "base/types.h"
#include "decoding/limits/prefix.h"
#include "decoding/outputs/shortlist.h"
#include "decoding/outputs/top_tokens.h"
#include "decoding/search/recording.h"
#include "decoding/search/sampling.h"
#include "layers/decoder.h"

namespace goldcrest {
// The language of a target, from the file's table: an id that is forced as the first token, or that is the start token.
class TargetLanguage {
 public:
  static TargetLanguage forced(uint32_t id) { return TargetLanguage(static_cast<int32_t>(id) + 1); }
  static TargetLanguage start(uint32_t id) { return TargetLanguage(-1 - static_cast<int32_t>(id)); }
  TargetLanguage() = default;  // none

  bool is_forced() const { return code_ > 0; }
  bool is_start() const { return code_ < 0; }
  int32_t forced_id() const { return code_ - 1; }
  int32_t start_id() const { return -1 - code_; }
 private:
  explicit TargetLanguage(int32_t code) : code_(code) {}
  int32_t code_ = 0;
};

// A finished hypothesis. `storage` is its row in hypothesis_tokens. The list of a sentence is sorted by score, best
// first.
struct Hypothesis {
  float score;
  float log_prob;
  uint32_t n_tokens;
  uint32_t storage;
};

struct SentenceState {
  TargetLanguage language;  // set before the search starts
  uint8_t n_live;           // hypotheses still growing; 0: the sentence is done
  uint8_t n_finished;
  uint16_t first_row;     // its live hypotheses begin here in the current step
  uint32_t n_candidates;  // gathered for its shortlist, or for its lexicon at this position; 0: the whole vocabulary
  PrefixExtent prefix;    // the caller's; set before the search starts
  uint64_t logits_hash;
};

struct SearchRefs : SamplingRefs {
  BufferRef sentences, live, tokens, ancestor, scores, hypotheses, hypothesis_tokens;  // as in SearchBuffers
  TopTokenRefs top_tokens;
  ShortlistRefs shortlist;
  RecordingRefs recording;
  TargetRefs targets;
  BufferRef prefixes;
  BufferRef lexicon_nodes;
};

SearchRefs plan_search(Plan& plan, const ModelView& model);

struct SearchBuffers {
  const Sentence* sources;     // [batch], of the sentences; not written
  SentenceState* sentences;    // [batch]
  LiveSentence* live;          // [batch]
  int32_t* tokens;             // [target tokens, slots]: input token of each position and slot
  uint8_t* ancestor;           // [batch, target tokens, beam_size]; null without beams
  float* scores;               // [slots]: log-probability of each live hypothesis
  Hypothesis* hypotheses;      // [slots]
  int32_t* hypothesis_tokens;  // [slots, target tokens]
  TopTokenBuffers top_tokens;
  ShortlistBuffers shortlist;
  RecordedPath recorded;
  TargetBuffers targets;
  PrefixBuffers prefixes;
  // The limits that the buffers are planned for.
  uint32_t beam_size, target_tokens;
  size_t n_slots;
  size_t source_rows;   // all sentences together
  SampleSlot* samples;  // [slots]; null if no memory is planned for sampling
};

// *placed, which must be all zeros, <- the views; `sources` are the batch's.
void place_search(const Runtime& runtime, const SearchRefs& refs, const Batch& batch, SearchBuffers* placed);

inline size_t count_slots(const goldcrest_limits& limits) { return size_t{limits.batch} * limits.beam_size; }

// One sentence's parts of the buffers. Continuing the sentence writes nothing else.
struct SentenceView {
  SentenceState* state;
  uint8_t* ancestor;           // [target tokens, beam_size] or null
  int32_t* tokens;             // token of slot b at position t: tokens[t * n_slots + b]
  float* scores;               // [beam_size]
  Hypothesis* hypotheses;      // [beam_size]
  int32_t* hypothesis_tokens;  // [beam_size, target tokens]
  RecordedPath recorded;
  const int32_t* target;  // [n_target], the given target
  uint32_t n_target;
  const int32_t* prefix;              // [state->prefix.n()], the caller's
  uint32_t n_source;                  // ids of the source, rows of a clip
  uint32_t beam_size, target_tokens;  // the buffers are planned for them
  size_t n_slots;
  SampleSlot* samples;  // [beam_size], if memory is planned for sampling

  // Returns the past of hypothesis b up to `position`.
  Past past_of(uint32_t b, uint32_t position) const { return {tokens, ancestor, n_slots, beam_size, b, position}; }
};

SentenceView sentence_view(const SearchBuffers& buffers, uint32_t sentence);
}  // namespace goldcrest
