// SPDX-License-Identifier: Apache-2.0
// Block by block of 256 outputs: logits, their hash, what may not be chosen, the best few of each row. Split by blocks,
// so that weights are read once; each task lists the outputs that it computed. Rows with candidates of their own are
// split by sentences.
#include "decoding/output_layer.h"

#include <cstring>

#include "base/arithmetic.h"
#include "base/hash.h"
#include "decoding/rules.h"

namespace goldcrest {

namespace {

constexpr float kNever = -__builtin_huge_valf();

// Beams apply a repetition penalty to log-probabilities, so that all sums come first and the logits once again after.
bool has_two_passes(const Search& search) {
  return penalizes_repetition(search.options) && !search.strategy->one_hypothesis;
}

// The sentence that a live one is of the batch.
uint32_t sentence_of(const Search& search, const LiveSentence& live) {
  return live.first_slot / search.runtime->limits.beam_size;
}

class OutputLayer {
 public:
  OutputLayer(const Search& search, const OutputSet& outputs)
      : search_(search),
        runtime_(*search.runtime),
        outputs_(outputs),
        end_allowed_(search.position + 1 >= search.options.min_target_tokens),
        needs_sums_(search.strategy->needs_sums(search.options)),
        hashes_(hashes_logits(search)),
        changes_values_(kHasRules && (runtime_.generation.n_biased > 0 || penalizes_repetition(search.options) ||
                                      forbids_ngrams(search.options))),
        sums_rules_(kHasRules && needs_sums_ && sums_what_rules_give()) {}

  uint32_t n_blocks() const { return count_output_blocks(outputs_.n); }

  Candidates lists(uint32_t task) const {
    return candidates(runtime_, search_.refs.candidates, search_.strategy->candidates_per_row(search_), outputs_.n,
                      task);
  }

  // What the blocks of these rows multiply.
  LinearInputs quantize(Range rows) const {
    const StackView& stack = runtime_.model.decoder;
    const Pass pass = make_pass(runtime_, stack, search_.decoder.pass, rows.first, {rows, 0, 1});
    operations(runtime_).quantize(runtime_, decoder_rows(runtime_, search_.decoder, rows.first), rows.count,
                                  stack.d_model_padded, pass.inputs);
    return pass.inputs;
  }

  // All that a task does for rows of its own.
  void run_rows(Range rows) const {
    const LinearInputs inputs = quantize(rows);
    const Range blocks = {0, n_blocks()};
    if (has_two_passes(search_)) {
      sum(rows, inputs, blocks, 0);
      store_sums(rows);
    }
    empty_lists(rows, 0);
    run(rows, inputs, blocks, 0);
  }

  void empty_lists(Range rows, uint32_t task) const {
    memset(runtime_.task_buffer<uint32_t>(search_.refs.candidates.counts, task) + rows.first, 0,
           rows.count * sizeof(uint32_t));
  }

  // Candidates of some rows among some blocks, added to the lists of `task`, which has had none of higher blocks; with
  // them the rows' log-sum-exp parts and logits hashes.
  void run(Range rows, const LinearInputs& inputs, Range blocks, uint32_t task) const {
    const Candidates lists = this->lists(task);
    SharedInputs shared;
    for (uint32_t block = blocks.first; block < blocks.first + blocks.count; ++block) {
      const Range outputs = block_outputs(block);
      const bool sums = needs_sums_ && !sums_rules_ && !has_two_passes(search_);
      float* logits = compute(rows, inputs, shared, outputs, lists, sums);
      trace_rows(runtime_, {"logits", static_cast<int32_t>(block), search_.position, logits, rows.count, outputs.count,
                            kOutputBlock});
      for (uint32_t row = rows.first; row < rows.first + rows.count; ++row, logits += kOutputBlock) {
        if (hashes_) hash(row, logits, outputs.count);
        if (kHasInspection && search_.follows_targets) {
          collect_given(row, logits, outputs, lists);
          continue;
        }
        if (kHasRules && (changes_values_ || sums_rules_)) {
          change(row, logits, outputs, lists);
        } else {
          if (needs_sums_ && !may_enter(lists, row, block)) continue;
          mask(logits, outputs);
        }
        collect(*runtime_.kernels, outputs_, outputs, lists, row);
      }
    }
  }

  // The first of two passes: the rows' log-sum-exp parts among some blocks.
  void sum(Range rows, const LinearInputs& inputs, Range blocks, uint32_t task) const {
    SharedInputs shared;
    for (uint32_t block = blocks.first; block < blocks.first + blocks.count; ++block) {
      (void)compute(rows, inputs, shared, block_outputs(block), lists(task), true);
    }
  }

  // And its end: each row's log-sum-exp, in the place of the row's inputs, which `quantize` has read.
  void store_sums(Range rows) const {
    for (uint32_t row = rows.first; row < rows.first + rows.count; ++row) *log_sum(row) = log_sum_exp(lists(0), row);
  }

 private:
  Range block_outputs(uint32_t block) const {
    return {block * kOutputBlock, smaller(outputs_.n - block * kOutputBlock, kOutputBlock)};
  }

  // The logits of a block, [rows, 256]; with them its sums, where they are wanted.
  float* compute(Range rows, const LinearInputs& inputs, SharedInputs& shared, Range outputs, const Candidates& lists,
                 bool sums) const {
    const size_t first_sum = size_t{rows.first} * lists.block_stride + outputs.first / kOutputBlock;
    float* const logits = lists.logits + size_t{rows.first} * kOutputBlock;
    operations(runtime_).output_block(
        runtime_,
        {&outputs_.panels, outputs.first, outputs.count, inputs, rows.count, logits, kSharesInputs ? &shared : nullptr},
        {sums ? lists.block_max + first_sum : nullptr, lists.block_sum + first_sum, lists.block_stride});
    return logits;
  }

  // Whether sums are of what the rules give. Changed logits, as greedy search has them, are no log-probabilities
  // before.
  bool sums_what_rules_give() const {
    if (kHasInspection && search_.follows_targets) return false;  // a target is scored by the model alone
    return renormalizes(search_.options) ||
           (search_.strategy->one_hypothesis &&
            (penalizes_repetition(search_.options) || runtime_.generation.n_biased > 0));
  }

  // With one hypothesis a sentence, row i belongs to the i-th live sentence.
  uint32_t sentence_of_row(uint32_t row) const {
    return sentence_of(search_, runtime_.buffer<LiveSentence>(search_.refs.live)[row]);
  }

  void hash(uint32_t row, const float* logits, uint32_t count) const {
    SentenceState& state = *sentence_view(search_, sentence_of_row(row)).state;
    state.logits_hash = hash_floats(state.logits_hash, logits, count);
  }

  // The target's next token, where it is in this block.
  void collect_given(uint32_t row, const float* logits, Range outputs, const Candidates& lists) const {
    const int32_t token = target_of(search_, sentence_of_row(row)).ids[search_.position];
    const uint32_t index = index_in_block(outputs_, outputs, static_cast<uint32_t>(token));
    if (index < outputs.count) insert_candidate(lists, row, logits[index], token);
  }

  float* log_sum(uint32_t row) const { return decoder_rows(runtime_, search_.decoder, row); }

  // A block of logits by the rules, without the tokens that may not be chosen; with them its sums, where they count.
  void change(uint32_t row, float* logits, Range outputs, const Candidates& lists) const {
    if (has_two_passes(search_)) {
      for (uint32_t i = 0; i < outputs.count; ++i) logits[i] -= *log_sum(row);
    }
    if (changes_values_) {
      const LiveSentence* sentence = runtime_.buffer<LiveSentence>(search_.refs.live);
      while (row >= sentence->first_row + sentence->n_rows) ++sentence;
      apply_rules(search_, past_of(search_, *sentence, row), {logits, outputs, outputs_});
    }
    mask(logits, outputs);
    if (!sums_rules_) return;
    const size_t sum = size_t{row} * lists.block_stride + outputs.first / kOutputBlock;
    runtime_.kernels->logit_sums(
        {logits, lists.block_max + sum, lists.block_sum + sum, kOutputBlock, lists.block_stride, 1, outputs.count});
  }

  // Removes the tokens that may not be chosen now from a block of logits.
  void mask(float* logits, Range outputs) const {
    const auto remove = [&](uint32_t token) {
      const uint32_t index = index_in_block(outputs_, outputs, token);
      if (index < outputs.count) logits[index] = kNever;
    };
    const GenerationView& generation = runtime_.generation;
    for (uint32_t i = 0; i < generation.n_suppressed; ++i) remove(generation.suppressed_ids[i]);
    if (end_allowed_) return;
    remove(generation.end_id);
    for (uint32_t i = 0; kHasRules && i < generation.n_more_ends; ++i) remove(generation.more_end_ids[i]);
  }

  const Search& search_;
  const Runtime& runtime_;
  const OutputSet& outputs_;
  bool end_allowed_, needs_sums_, hashes_;
  bool changes_values_;  // rules change logits
  bool sums_rules_;      // sums are of what they give
};

}  // namespace

[[gnu::cold]] void collect(const Kernels& kernels, const OutputSet& outputs, Range block, const Candidates& lists,
                           uint32_t row) {
  const float* logits = lists.logits + size_t{row} * kOutputBlock;
  uint8_t indices[kOutputBlock];
  // While a list is not full, its threshold lets all in: there the block's own maxima say more.
  const uint32_t largest = lists.is_full(row) || lists.per_row > 16 ? 0 : lists.per_row;
  const uint32_t listed = kernels.list_largest({logits, indices, block.count, largest, lists.threshold(row)});
  for (uint32_t i = 0; i < listed; ++i) {
    const uint32_t index = indices[i];
    if (logits[index] > lists.threshold(row))
      insert_candidate(lists, row, logits[index], static_cast<int32_t>(output_token(outputs, block.first + index)));
  }
}

namespace {

// The rows of all live sentences, which have the same outputs.
void run_together(const Search& search, const OutputSet& outputs) {
  const Runtime& runtime = *search.runtime;
  const uint32_t n_rows = search.n_rows;
  const OutputLayer layer(search, outputs);
  const uint64_t macs = linear_macs(n_rows, outputs.panels.n, outputs.panels.k);
  // A hash is of blocks in order.
  const Split split = split_work(macs, layer.n_blocks(), hashes_logits(search) ? 1 : runtime.threads);
  const LinearInputs inputs = layer.quantize({0, n_rows});
  if (has_two_passes(search)) {
    run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
      layer.sum({0, n_rows}, inputs, split.part_of(layer.n_blocks(), piece), task);
    });
    layer.store_sums({0, n_rows});
  }
  for (uint32_t task = 0; task < split.n_tasks; ++task) layer.empty_lists({0, n_rows}, task);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
    layer.run({0, n_rows}, inputs, split.part_of(layer.n_blocks(), piece), task);
  });
  for (uint32_t task = 1; task < split.n_tasks; ++task) {
    for (uint32_t row = 0; row < n_rows; ++row) merge_candidates(layer.lists(0), layer.lists(task), row);
  }
}

// Sentence by sentence, each with outputs of its own.
[[maybe_unused]] void run_by_sentence(const Search& search) {
  const Runtime& runtime = *search.runtime;
  const LiveSentence* const live = runtime.buffer<LiveSentence>(search.refs.live);
  uint64_t macs = 0;
  for (uint32_t i = 0; i < search.n_live; ++i) {
    const uint32_t n = count_outputs(search, sentence_of(search, live[i]));
    macs += linear_macs(live[i].n_rows, n, runtime.model.projection.k);
  }
  const Split split = split_work(macs, search.n_live, runtime.threads);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t) {
    const Range part = split.part_of(search.n_live, piece);
    for (uint32_t i = part.first; i < part.first + part.count; ++i) {
      if constexpr (kHasShortlist) {
        const OutputSet outputs = outputs_of(search, sentence_of(search, live[i]));
        OutputLayer(search, outputs).run_rows({live[i].first_row, live[i].n_rows});
      }
    }
  });
}

}  // namespace

void run_output_layer(const Search& search) {
  const Runtime& runtime = *search.runtime;
  if constexpr (kHasShortlist) {
    if (search.uses_shortlist) {
      if (search.n_live > 1) return run_by_sentence(search);
      const LiveSentence& live = *runtime.buffer<LiveSentence>(search.refs.live);
      return run_together(search, outputs_of(search, sentence_of(search, live)));
    }
  }
  run_together(search, {tensors_of(runtime, runtime.model.projection), nullptr, runtime.model.vocab_size});
}

float row_normalizer(const Search& search, const Candidates& lists, uint32_t row) {
  return has_two_passes(search) && !renormalizes(search.options) ? 0.0f : log_sum_exp(lists, row);
}

}  // namespace goldcrest
