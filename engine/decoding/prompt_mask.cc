// SPDX-License-Identifier: Apache-2.0
// The stage behind prompts. It looks up the sentence of each row, because prefixes differ in length.
#include "decoding/basic_stages.h"

namespace goldcrest {

[[gnu::cold]] bool MaskBehindPrompt::run(const LogitBlock& block) const {
  const GenerationView& generation = *step_.options.generation;
  const LiveSentence& sentence = sentence_of_row(step_, block.row);
  const Prompt prompt = prompt_of(step_.options, step_.sentences[step_.sentence_of(sentence)].prefix);
  const uint32_t position = step_.rows.position;
  const auto remove = [&](uint32_t token) {
    if (float* const value = block.of(token)) *value = kNever;
  };
  for (uint32_t i = 0; position == prompt.n && i < generation.first_suppressed_ids.n; ++i) {
    remove(generation.first_suppressed_ids.ids[i]);
  }
  if (position + 1 >= step_.options.min_target_tokens + prompt.n_uncounted) return true;
  remove(generation.end_id);
  for (uint32_t i = 0; kHasRules && i < generation.n_more_ends; ++i) remove(generation.more_end_ids[i]);
  return true;
}

}  // namespace goldcrest
