// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/hypotheses.h"

namespace goldcrest {
namespace {
// Returns the id that the file, or the sentence's language, forces first; -1: none.
int32_t first_id(const GenerationView& generation, const SentenceView& sentence) {
  const TargetLanguage language = sentence.state->language;
  return language.is_forced() ? language.forced_id() : generation.forced_first_id;
}

// Returns the token of the prompt at a position; -1 where the best of the first choices is taken.
int32_t prompt_token(
    const GenerationView& generation, const Prompt& prompt, const SentenceView& sentence, uint32_t position) {
  if (position >= prompt.n_file) return sentence.prefix[position - prompt.n_file];
  const int32_t first = first_id(generation, sentence);
  if (!kHasPrompt || first >= 0) return first;
  const uint32_t n_chosen = generation.first_choices.n > 0 ? 1 : 0;
  return position < n_chosen ? -1 : static_cast<int32_t>(generation.forced_ids[position - n_chosen]);
}
}  // namespace

ForcedToken forced_token(const SearchOptions& options, const SentenceView& sentence, uint32_t position) {
  if (scores_targets(options)) return {true, true, position + 1 == sentence.n_target, sentence.target[position]};
  const GenerationView& generation = *options.generation;
  if (forces_end(options) && is_last_position(options, sentence, position))
    return {true, false, true, static_cast<int32_t>(generation.end_id)};
  const Prompt prompt = prompt_of(options, sentence.state->prefix);
  if (position >= prompt.n) return {false, false, false, -1};
  const int32_t token = prompt_token(generation, prompt, sentence, position);
  return {true, false, ends_text(options, sentence, position, token), token};
}
}  // namespace goldcrest
