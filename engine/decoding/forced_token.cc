// SPDX-License-Identifier: Apache-2.0
#include "decoding/forced_token.h"

namespace goldcrest {

namespace {

// Returns the token of the prompt at a position; -1 where the best of the first choices is taken.
int32_t prompt_token(const GenerationView& generation, const Prompt& prompt, const int32_t* prefix, uint32_t position) {
  if (position >= prompt.n_file) return prefix[position - prompt.n_file];
  if (generation.forced_first_id >= 0) return generation.forced_first_id;
  if constexpr (!kHasPrompt) return -1;  // cannot be
  const uint32_t n_chosen = generation.first_choices.n > 0 ? 1 : 0;
  return position < n_chosen ? -1 : static_cast<int32_t>(generation.forced_ids[position - n_chosen]);
}

}  // namespace

ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position) {
  if (kHasInspection && options.follows_targets) {
    return {true, true, position + 1 == sentence.n_target, sentence.target[position]};
  }
  const GenerationView& generation = *options.generation;
  if (forces_end(options) && is_last_position(options, sentence, position)) {
    return {true, false, true, static_cast<int32_t>(generation.end_id)};
  }
  if constexpr (kHasPrefix) {
    const Prompt prompt = prompt_of(options, sentence.state->prefix);
    if (position >= prompt.n) return {false, false, false, -1};
    const int32_t token = prompt_token(generation, prompt, sentence.prefix, position);
    return {true, false, ends_text(options, sentence, position, token), token};
  }
  if (position == 0 && generation.forced_first_id >= 0) {
    const int32_t token = generation.forced_first_id;
    return {true, false, ends_text(options, sentence, position, token), token};
  }
  return {false, false, false, -1};
}

}  // namespace goldcrest
