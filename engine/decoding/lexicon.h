// SPDX-License-Identifier: Apache-2.0
// A lexicon restricts the texts of a search (goldcrest_set_lexicon). Each live hypothesis has a node of its tree.
// Builds without GOLDCREST_LEXICON have no lexicons.
#pragma once

#include "decoding/stages.h"

namespace goldcrest {

constexpr uint32_t kNoNode = UINT32_MAX;  // of a hypothesis that has left the lexicon: it allows nothing

// Plans uint32 [2, slots] if the limits ask for a lexicon: the nodes at even positions, and those at odd ones.
BufferRef plan_lexicon(Plan& plan);

// Moves the node of every live hypothesis on to the current position. If the output layer runs, chooses the outputs of
// each sentence: the allowed ones of all its hypotheses if they fit the limits, else all.
void follow_lexicon(const OutputStep& step, bool runs_output);

// Removes the tokens that the lexicon does not allow, and sums the others up. The sums are those of 256 tokens of the
// vocabulary each, token by token, so that they do not depend on the outputs that are computed.
class KeepAllowed {
 public:
  explicit KeepAllowed(const OutputStep& step) : runs_(has_lexicon(step.options)), step_(step) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const;

 private:
  const bool runs_;
  const OutputStep& step_;
};

}  // namespace goldcrest
