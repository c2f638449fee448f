// SPDX-License-Identifier: Apache-2.0
// Decides which token a position of a sentence must have.
#pragma once

#include "decoding/hypotheses.h"

namespace goldcrest {

struct ForcedToken {
  bool exists;    // false: the strategy chooses
  bool scored;    // its log-probability counts, so the output layer must run; false: it counts as 0
  bool ends;      // the text ends with it
  int32_t token;  // -1: the best of the first choices, or of what the strategy may choose

  bool needs_layers() const { return !exists || scored || !ends; }
  bool needs_output() const { return scored || token < 0; }
  bool is_first_choice() const { return exists && token < 0; }
};

// The only function that forces a token: the next token of a given target, the end at the last position, the file's
// prompt or first id, or the caller's prefix.
ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position);

}  // namespace goldcrest
