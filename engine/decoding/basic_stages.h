// SPDX-License-Identifier: Apache-2.0
// The stages of every build, which do not depend on a file's rules.
#pragma once

#include "base/hash.h"
#include "decoding/rules.h"

namespace goldcrest {

// Continues the hash of each sentence's logits.
class HashLogits {
 public:
  explicit HashLogits(const OutputStep& step) : runs_(hashes_logits(step.options)), step_(step) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const {
    // With one hypothesis a sentence, row i belongs to the i-th live sentence.
    SentenceState& state = step_.sentences[step_.sentence_of(step_.rows.sentences[block.row])];
    state.logits_hash = hash_floats(state.logits_hash, block.values, block.outputs.count);
    return true;
  }

 private:
  const bool runs_;
  const OutputStep& step_;
};

// Lists only the next token of the given target, whatever its logit is.
class ListTarget {
 public:
  explicit ListTarget(const OutputStep& step) : runs_(step.options.follows_targets), step_(step) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const {
    const Target target = step_.targets.of(step_.sentence_of(step_.rows.sentences[block.row]));
    const int32_t token = target.ids[step_.rows.position];
    const float* const value = block.of(static_cast<uint32_t>(token));
    if (value != nullptr) insert_token(block.lists, block.row, *value, token);
    return false;
  }

 private:
  const bool runs_;
  const OutputStep& step_;
};

// Lists only the file's first choices, at the position at which one of them is taken without a score. In a batch, the
// other sentences have forced tokens at this position.
class ListFirstChoices {
 public:
  explicit ListFirstChoices(const OutputStep& step)
      : runs_(step.rows.position == 0 && step.options.generation->n_first_choices > 0),
        generation_(*step.options.generation) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const {
    for (uint32_t i = 0; i < generation_.n_first_choices; ++i) {
      const uint32_t token = generation_.first_choices[i];
      const float* const value = block.of(token);
      if (value != nullptr && *value > block.lists.threshold(block.row))
        insert_token(block.lists, block.row, *value, static_cast<int32_t>(token));
    }
    return false;
  }

 private:
  const bool runs_;
  const GenerationView& generation_;
};

// Ends a block whose largest logit cannot enter the row's list. Runs only if the block's sums are known already and no
// later stage changes its values.
class SkipLowBlock {
 public:
  explicit SkipLowBlock(const OutputStep& step) : runs_(sums_logits(step.options) && !changes_logits(step.options)) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const { return may_enter(block.lists, block.row, block.index()); }

 private:
  const bool runs_;
};

// Removes the tokens that must not be chosen at this position: suppressed ids, end ids before the minimum length, and
// behind a prompt the file's first suppressed ids.
class MaskTokens {
 public:
  explicit MaskTokens(const OutputStep& step)
      : step_(step),
        generation_(*step.options.generation),
        has_prompts_(kHasPrompt && (generation_.n_prompt > 0 || generation_.n_first_suppressed > 0 ||
                                    step.runtime.limits.max_prefix_tokens > 0)),
        end_allowed_(step.rows.position + 1 >= step.options.min_target_tokens) {}

  static constexpr bool runs() { return true; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const {
    const auto remove = [&](uint32_t token) {
      const uint32_t index = index_in_block(block.set, block.outputs, token);
      if (index < block.outputs.count) block.values[index] = kNever;
    };
    for (uint32_t i = 0; i < generation_.n_suppressed; ++i) remove(generation_.suppressed_ids[i]);
    bool end_allowed = end_allowed_;
    if (has_prompts_) {
      const Prompt prompt =
          prompt_of(step_.options, step_.sentences[step_.sentence_of(sentence_of_row(block.row))].prefix);
      const uint32_t n_first = step_.rows.position == prompt.n ? generation_.n_first_suppressed : 0;
      for (uint32_t i = 0; i < n_first; ++i) remove(generation_.first_suppressed_ids[i]);
      end_allowed = step_.rows.position + 1 >= step_.options.min_target_tokens + prompt.n_uncounted;
    }
    if (end_allowed) return true;
    remove(generation_.end_id);
    for (uint32_t i = 0; kHasRules && i < generation_.n_more_ends; ++i) remove(generation_.more_end_ids[i]);
    return true;
  }

 private:
  const LiveSentence& sentence_of_row(uint32_t row) const {
    const LiveSentence* sentence = step_.rows.sentences;
    while (row >= sentence->first_row + sentence->n_rows) ++sentence;
    return *sentence;
  }

  const OutputStep& step_;
  const GenerationView& generation_;
  const bool has_prompts_;
  const bool end_allowed_;
};

}  // namespace goldcrest
