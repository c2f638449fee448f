// SPDX-License-Identifier: Apache-2.0
// Which token a position of a sentence must have.
#pragma once

#include "decoding/hypotheses.h"

namespace goldcrest {

struct ForcedToken {
  bool exists;  // false: the strategy chooses
  bool scored;  // its log-probability counts, so the output layer must run; else it costs none
  bool ends;    // the text ends with it
  int32_t token;

  bool needs_layers() const { return !exists || scored || !ends; }
  bool needs_output() const { return !exists || scored; }
};

// The only place that forces a token: a given target's next, the end at the last position, the file's first id.
ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position);

}  // namespace goldcrest
