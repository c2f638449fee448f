// SPDX-License-Identifier: Apache-2.0
// The stages that a block of a row's logits goes through before its best tokens are listed. A stage is a class with
//
//   explicit Stage(const OutputStep&);          reads what the stage needs to know of this position
//   bool runs() const;                          whether this search uses the stage
//   bool needs_sum() const;                     whether the stage needs each row's log-sum-exp first: the output layer
//                                               then computes all blocks twice
//   bool run(const LogitBlock& block) const;    false: the row is done with this block, and no later stage sees it
//
// A list of stages is itself a stage. No call is indirect, and a stage that the build lacks leaves no code.
#pragma once

#include "base/types.h"
#include "decoding/limits/options.h"
#include "decoding/search/buffers.h"

namespace goldcrest {
// One position of the output layer.
struct OutputStep {
  const Runtime& runtime;
  const DecoderRefs& decoder;  // its rows are the inputs; store_sums overwrites them if a stage needs the sums
  const SearchOptions& options;
  const TargetRows& rows;             // read
  const int32_t* tokens;              // [position + 1, slots], read
  const TargetBuffers& targets;       // read
  SentenceState* sentences;           // [batch], written: their hashes
  const TopTokenBuffers& top_tokens;  // written
  const ShortlistBuffers& shortlist;  // read; its nodes of a lexicon are written before the stages
  const int32_t* source_ids;          // [rows of all sources], read; null if the sources are clips
  bool times_only = false;            // the rows in question are listed once more, with their timestamps only

  // The batch index of a live sentence.
  uint32_t sentence_of(const LiveSentence& live) const { return live.first_slot / rows.beam_size; }
};

// Returns the live sentence that a row belongs to.
inline const LiveSentence& sentence_of_row(const OutputStep& step, uint32_t row) {
  const LiveSentence* sentence = step.rows.sentences;
  while (row >= sentence->first_row + sentence->n_rows) ++sentence;
  return *sentence;
}

// The past of row b of a sentence.
inline Past past_of(const OutputStep& step, const LiveSentence& sentence, uint32_t b) {
  const TargetRows& rows = step.rows;
  return {step.tokens + sentence.first_slot, rows.ancestor != nullptr ? rows.ancestor + sentence.first_past : nullptr,
      rows.n_slots, rows.beam_size, rows.slot_of(b), rows.position_of(b)};
}

// A block of values of one row: logits, or the log-probabilities that a stage made of them.
struct LogitBlock {
  float* values;  // [outputs.count]
  Range outputs;  // within the set
  const OutputSet& set;
  const TopTokens& lists;
  uint32_t row;

  // Returns the value of a token; null if the block lacks the token.
  float* of(uint32_t token) const {
    const uint32_t index = index_in_block(set, outputs, token);
    return index < outputs.count ? values + index : nullptr;
  }
  uint32_t index() const { return outputs.first / kOutputBlock; }
  LargestNumbers list() const { return lists.of(row); }
};

constexpr float kNever = -__builtin_huge_valf();  // the value of a token that must not be chosen

inline void remove_all(const LogitBlock& block, const uint32_t* ids, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i)
    if (float* const value = block.of(ids[i])) *value = kNever;
}

// Removes the ids that end a text.
inline void remove_ends(const LogitBlock& block, const GenerationView& generation) {
  remove_all(block, &generation.end_id, 1);
  remove_all(block, generation.more_end_ids, count_more_ends(generation));
}

template <typename... Stages> class StageList : Stages... {
 public:
  // Always inline: the test that bounds the stack reads GCC's call graphs, which call a constructor by an alias that
  // they do not define.
  [[gnu::always_inline]] explicit StageList(const OutputStep& step) : Stages(step)..., runs_((Stages::runs() || ...)) {}

  bool runs() const { return runs_; }
  bool needs_sum() const { return ((Stages::runs() && Stages::needs_sum()) || ...); }
  bool run(const LogitBlock& block) const { return ((!Stages::runs() || Stages::run(block)) && ...); }
 private:
  const bool runs_;
};

// Replaces a stage that the build lacks.
template <typename Stage> struct NoStage {
  explicit NoStage(const OutputStep&) {}

  static constexpr bool runs() { return false; }
  static constexpr bool needs_sum() { return false; }
  static constexpr bool run(const LogitBlock&) { return true; }
};

template <bool kIsBuilt, typename Stage> using StageIf = Choose<kIsBuilt, Stage, NoStage<Stage>>;
}  // namespace goldcrest
