// SPDX-License-Identifier: Apache-2.0
// Computes blocks of 256 outputs: their logits, the stages over them, and the best few tokens of each row. Tasks split
// the blocks, so that each weight is read once; each task lists the tokens of its blocks. With a shortlist, tasks split
// the sentences instead, because each has outputs of its own.
#include "base/exact_floats.h"
#include "decoding/outputs/output_layer.h"
#include <string.h>
#include "base/arithmetic.h"
#include "base/types.h"
#include "decoding/limits/rules.h"
#include "decoding/outputs/basic_stages.h"
#include "decoding/outputs/output_choice.h"

namespace goldcrest {
namespace {
// The stages that a block of logits passes, in this order. Add a new stage here.
using Rules = StageList<LogProbabilities, AddBiases, ApplySequences, PenalizeRepetition, ForbidNgrams>;
using Stages = StageList<HashLogits, StageIf<kHasInspection, ListTarget>, StageIf<kHasPrompt, ListFirstChoices>,
    SkipLowBlock, StageIf<kHasSearch, Rules>, StageIf<kHasPrompt, MaskBehindPrompt>, MaskTokens,
    StageIf<kHasTimestamps, ApplyTimestamps>, StageIf<kHasSearch, SumAfterRules>>;

class OutputLayer {
 public:
  OutputLayer(const OutputStep& step, const OutputSet& outputs)
      : step_(step), outputs_(outputs), stages_(step), sums_(sums_logits(step.options)) {}

  uint32_t n_blocks() const { return count_output_blocks(outputs_.n); }
  // Returns whether all blocks are computed twice, first for the log-sum-exp of each row.
  bool needs_sum() const { return stages_.needs_sum(); }

  TopTokens lists(uint32_t task) const {
    return top_tokens(step_.top_tokens, step_.options.list_size, outputs_.n, task);
  }

  // Returns the quantized inputs of these rows, with their remainders if the projection has fine inputs.
  OutputInputs quantize(Range rows, uint32_t task) const {
    const StackView& stack = step_.runtime.model.decoder;
    const Pass pass = make_pass(step_.runtime, stack, step_.decoder.pass, rows.first, {rows, task, 1});
    const LinearView& projection = step_.runtime.model.projection;
    (void)goldcrest::quantize(pass, projection, decoder_rows(step_.runtime, step_.decoder, rows.first));
    return {pass.inputs, projection.has_remainders() ? pass.fine : FineScratch()};
  }

  // Computes rows that only this task computes, over all blocks.
  void run_rows(Range rows, uint32_t task) const {
    const OutputInputs inputs = quantize(rows, task);
    const Range blocks = {0, n_blocks()};
    if (needs_sum()) {
      sum(rows, inputs, blocks, 0);
      store_sums(rows);
    }
    empty_lists(rows, 0);
    run(rows, inputs, blocks, 0);
  }

  void empty_lists(Range rows, uint32_t task) const {
    memset(step_.top_tokens.counts.of(task) + rows.first, 0, rows.count * sizeof(uint32_t));
  }

  // Adds the best tokens of `rows` within `blocks` to the lists of `task`; call in ascending block order. Also updates
  // each row's log-sum-exp and logits hash.
  void run(Range rows, const OutputInputs& inputs, Range blocks, uint32_t task) const {
    const TopTokens lists = this->lists(task);
    InputSpace<> space;
    for (uint32_t i = blocks.first; i < blocks.first + blocks.count; ++i) {
      const Range outputs = block_outputs(i);
      float* const logits = compute(rows, inputs, space.shared, outputs, lists, sums_, task);
      trace_rows(step_.runtime,
          {"logits", static_cast<int32_t>(i), step_.rows.position, logits, rows.count, outputs.count, kOutputBlock});
      LogitBlock block = {logits, outputs, outputs_, lists, rows.first};
      for (; block.row < rows.first + rows.count; ++block.row, block.values += kOutputBlock)
        if (stages_.run(block)) collect_allowed(block);
    }
  }

  // The first of two passes: computes the log-sum-exp parts of `rows` within `blocks`.
  void sum(Range rows, const OutputInputs& inputs, Range blocks, uint32_t task) const {
    InputSpace<> space;
    for (uint32_t block = blocks.first; block < blocks.first + blocks.count; ++block)
      (void)compute(rows, inputs, space.shared, block_outputs(block), lists(task), true, task);
  }

  // Ends the first pass: stores each row's log-sum-exp over the row's inputs, which `quantize` has read already.
  void store_sums(Range rows) const {
    for (uint32_t row = rows.first; row < rows.first + rows.count; ++row)
      *decoder_rows(step_.runtime, step_.decoder, row) = log_sum_exp(lists(0), row);
  }
 private:
  [[gnu::always_inline]] void collect_allowed(const LogitBlock& block) const {
    if (has_lexicon(step_.options)) keep_allowed(step_, block);
    collect(*step_.runtime.kernels, block);
  }

  Range block_outputs(uint32_t block) const {
    return {block * kOutputBlock, smaller(outputs_.n - block * kOutputBlock, kOutputBlock)};
  }

  // Returns the logits of a block, [rows, 256]. If `sums`, also computes the block's maxima and sums.
  float* compute(Range rows, const OutputInputs& inputs, SharedInputs& shared, Range outputs, const TopTokens& lists,
      bool sums, uint32_t task) const {
    const size_t first_sum = size_t{rows.first} * lists.block_stride + outputs.first / kOutputBlock;
    float* const logits = lists.logits + size_t{rows.first} * kOutputBlock;
    operations(step_.runtime)
        .output_block(step_.runtime,
            {&outputs_.panels, outputs.first, outputs.count, inputs, rows.count, logits,
                kSharesInputs ? &shared : nullptr, task},
            {sums ? lists.block_max + first_sum : nullptr, lists.block_sum + first_sum, lists.block_stride});
    return logits;
  }

  const OutputStep& step_;
  const OutputSet& outputs_;
  const Stages stages_;
  const bool sums_;  // the pass that lists tokens also computes the blocks' sums
};
}  // namespace

void collect(const Kernels& kernels, const LogitBlock& block) {
  const uint32_t first = block.outputs.first;
  const uint32_t* const ids = block.set.is_whole() ? nullptr : block.set.ids + first;
  kernels.list_largest({block.values, ids, first, block.outputs.count, block.list()});
}

namespace {
// Lists the rows in which a timestamp must follow once more.
void list_timestamps(OutputStep step, const OutputSet& outputs, const OutputInputs& inputs) {
  const uint32_t n_rows = step.rows.n_rows, n_blocks = count_output_blocks(outputs.n);
  const TopTokens lists = top_tokens(step.top_tokens, step.options.list_size, outputs.n + kOutputBlock, 0);
  bool any = false;
  for (uint32_t row = 0; row < n_rows; ++row) {
    const PrefixExtent& given = step.sentences[step.sentence_of(sentence_of_row(step, row))].prefix;
    if (step.rows.position >= prompt_of(step.options, given).n) any |= choose_timestamps(step.options, lists, row);
  }
  if (!any) return;
  step.times_only = true;
  const uint32_t first = step.options.generation->first_timestamp / kOutputBlock;
  OutputLayer(step, outputs).run({0, n_rows}, inputs, {first, n_blocks - first}, 0);
}

// Computes the rows of all live sentences, which have the same outputs.
void run_together(const OutputStep& step, const OutputSet& outputs) {
  const Runtime& runtime = step.runtime;
  const uint32_t n_rows = step.rows.n_rows;
  const OutputLayer layer(step, outputs);
  const uint64_t macs = linear_macs(n_rows, outputs.panels.n, outputs.panels.k);
  // A hash needs the blocks in order, as do a lexicon's sums, so one task computes them all.
  const bool in_order = hashes_logits(step.options) || (has_lexicon(step.options) && step.options.needs_sums);
  const Split split = split_work(macs, layer.n_blocks(), in_order ? 1 : runtime.threads);
  const OutputInputs inputs = layer.quantize({0, n_rows}, 0);
  if (layer.needs_sum()) {
    run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
      layer.sum({0, n_rows}, inputs, split.part_of(layer.n_blocks(), piece), task);
    });
    layer.store_sums({0, n_rows});
  }
  for (uint32_t task = 0; task < split.n_tasks; ++task) layer.empty_lists({0, n_rows}, task);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
    layer.run({0, n_rows}, inputs, split.part_of(layer.n_blocks(), piece), task);
  });
  for (uint32_t task = 1; task < split.n_tasks; ++task)
    for (uint32_t row = 0; row < n_rows; ++row) merge_top_tokens(layer.lists(0), layer.lists(task), row);
  if (finds_timestamps(step.options)) list_timestamps(step, outputs, inputs);
}

// Computes the rows sentence by sentence, each with outputs of its own.
void run_by_sentence(const OutputStep& step) {
  const Runtime& runtime = step.runtime;
  const LiveSentence* const live = step.rows.sentences;
  const uint32_t n_live = step.rows.n_sentences;
  uint64_t macs = 0;
  for (uint32_t i = 0; i < n_live; ++i) {
    const uint32_t n = count_outputs(step.options, step.sentences[step.sentence_of(live[i])]);
    macs += linear_macs(live[i].n_rows, n, runtime.model.projection.k);
  }
  const Split split = split_work(macs, n_live, runtime.threads);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
    const Range part = split.part_of(n_live, piece);
    for (uint32_t i = part.first; i < part.first + part.count; ++i) {
      const OutputSet outputs =
          outputs_of(runtime, step.options, step.shortlist, step.sentences, step.sentence_of(live[i]));
      OutputLayer(step, outputs).run_rows({live[i].first_row, live[i].n_rows}, task);
    }
  });
}
}  // namespace

void run_output_layer(const OutputStep& step) {
  if (chooses_outputs(step.options) && step.rows.n_sentences > 1) return run_by_sentence(step);
  const uint32_t sentence = step.sentence_of(*step.rows.sentences);
  run_together(step, outputs_of(step.runtime, step.options, step.shortlist, step.sentences, sentence));
}

float row_normalizer(const SearchOptions& options, const TopTokens& lists, uint32_t row) {
  return lists_log_probs(options) && !renormalizes(options) ? 0.0f : log_sum_exp(lists, row);
}
}  // namespace goldcrest
