// SPDX-License-Identifier: Apache-2.0
// The stages of every build, which do not depend on a file's rules.
#pragma once

#include "base/hash.h"
#include "decoding/limits/rules.h"

namespace goldcrest {
// Continues the hash of each sentence's logits.
class HashLogits {
 public:
  explicit HashLogits(const OutputStep& step) : runs_(hashes_logits(step.options) && !step.times_only), step_(step) {}

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
    const TargetRows& rows = step_.rows;
    const Target target = step_.targets.of(step_.sentence_of(rows.sentences[rows.is_draft() ? 0 : block.row]));
    const int32_t token = target.ids[rows.position_of(block.row)];
    const float* const value = block.of(static_cast<uint32_t>(token));
    if (value != nullptr) insert_number(block.list(), *value, token);
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
      : runs_(step.rows.position == 0 && step.options.generation->first_choices.n > 0),
        choices_(step.options.generation->first_choices) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const;
 private:
  const bool runs_;
  const IdList& choices_;
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

// Removes the file's first suppressed ids at the first position after a row's prompt, and the end ids before the
// minimum length, which the prompt's uncounted ids do not count in. An alternative is not an end either.
class MaskBehindPrompt {
 public:
  explicit MaskBehindPrompt(const OutputStep& step)
      : runs_(step.options.generation->n_prompt > 0 || step.options.generation->first_suppressed_ids.n > 0 ||
              step.runtime.limits.max_prefix_tokens > 0 || expands_alternatives(step.options)),
        step_(step) {}

  bool runs() const { return runs_; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const;
 private:
  const bool runs_;
  const OutputStep& step_;
};

// Removes the tokens that must not be chosen at this position: suppressed ids, and end ids before the minimum length.
class MaskTokens {
 public:
  explicit MaskTokens(const OutputStep& step)
      : generation_(*step.options.generation), end_allowed_(step.rows.position + 1 >= step.options.min_target_tokens) {}

  static constexpr bool runs() { return true; }
  static constexpr bool needs_sum() { return false; }
  bool run(const LogitBlock& block) const {
    remove_all(block, generation_.suppressed_ids, generation_.n_suppressed);
    if (!end_allowed_) remove_ends(block, generation_);
    return true;
  }
 private:
  const GenerationView& generation_;
  const bool end_allowed_;
};
}  // namespace goldcrest
