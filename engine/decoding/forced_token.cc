// SPDX-License-Identifier: Apache-2.0
#include "decoding/forced_token.h"

namespace goldcrest {

ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position) {
  if (kHasInspection && options.follows_targets) {
    return {true, true, position + 1 == sentence.n_target, sentence.target[position]};
  }
  const GenerationView& generation = *options.generation;
  if (forces_end(options) && is_last_position(options, sentence, position)) {
    return {true, false, true, static_cast<int32_t>(generation.end_id)};
  }
  if (position == 0 && generation.forced_first_id >= 0) {
    const int32_t token = generation.forced_first_id;
    return {true, false, ends_text(options, sentence, position, token), token};
  }
  return {false, false, false, -1};
}

}  // namespace goldcrest
