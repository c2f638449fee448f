// SPDX-License-Identifier: Apache-2.0
// The stages of prompts. The second looks up the sentence of each row, because prefixes differ in length.
#include "base/exact_floats.h"
#include "decoding/outputs/basic_stages.h"

namespace goldcrest {
bool ListFirstChoices::run(const LogitBlock& block) const {
  for (uint32_t i = 0; i < choices_.n; ++i) {
    const uint32_t token = choices_.ids[i];
    const float* const value = block.of(token);
    if (value != nullptr && *value > block.list().bound())
      insert_number(block.list(), *value, static_cast<int32_t>(token));
  }
  return false;
}

bool MaskBehindPrompt::run(const LogitBlock& block) const {
  const GenerationView& generation = *step_.options.generation;
  const LiveSentence& sentence = sentence_of_row(step_, block.row);
  const Prompt prompt = prompt_of(step_.options, step_.sentences[step_.sentence_of(sentence)].prefix);
  const uint32_t position = step_.rows.position;
  if (kHasPrompt && position == prompt.n)
    remove_all(block, generation.first_suppressed_ids.ids, generation.first_suppressed_ids.n);
  const bool is_alternative = expands_alternatives(step_.options) && position == prompt.n;
  if (is_alternative || position + 1 < step_.options.min_target_tokens + prompt.n_uncounted)
    remove_ends(block, generation);
  return true;
}
}  // namespace goldcrest
