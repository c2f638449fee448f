// SPDX-License-Identifier: Apache-2.0
// A pass: some rows on their way through one layer, computed by one task, with the buffers that they need. Encoder and
// decoder rows alike.
#pragma once

#include "layers/operations.h"

namespace goldcrest {

struct PassRefs {
  BufferRef inputs, row_scales, wide, mixed, attention_weights, query_row;
  uint32_t input_bytes, widest_output, attention_width;
};

struct PassPlan {
  Phase phase;
  uint32_t other_width;  // columns of the widest output that not every stack has: another stack's keys and values, a
                         // recurrent block's
  uint8_t rows[2];       // goldcrest_factor: the rows are their product
  uint8_t keys;          // goldcrest_factor: of the longest attention
};

PassRefs plan_pass(Plan& plan, const StackView& stack, const PassPlan& wanted);

struct Pass {
  const Runtime& runtime;
  const StackView& stack;
  Range rows;           // that this task computes, of all that the layer has
  uint32_t n_tasks;     // that an operation on these rows may be split into
  LinearInputs inputs;  // of `linear` alone: what it multiplies
  float* wide;          // [rows, widest output of a linear layer]
  float* mixed;         // [rows, n_heads * d_head], what attention makes of the values
  // For each task an operation is split into: [keys padded to 16], and [d_head] of the cache's type.
  float* attention_weights;
  uint8_t* query_row;
  size_t attention_weights_stride, query_row_stride;  // elements, bytes

  // Names of `wide`, one after another: `linear` quantizes what it reads before it writes, so each of these may be made
  // from the one before.
  float* normed() const { return wide; }           // [rows, d_model padded]
  float* query_key_value() const { return wide; }  // [rows, 3, n_heads * d_head]
  float* query() const { return wide; }            // [rows, n_heads * d_head]
  float* key_value() const { return wide; }        // [rows, 2, n_heads * d_head]
  float* input_forget() const { return wide; }     // [rows, 2, d_model padded]
  float* inner() const { return wide; }            // [rows, d_ff padded]
};

// Which rows a task computes, and its share of the tasks.
struct TaskRows {
  Range rows;
  uint32_t task, n_tasks;
};

// `first_row`: where in the planned buffers the rows lie.
Pass make_pass(const Runtime& runtime, const StackView& stack, const PassRefs& refs, uint32_t first_row,
               const TaskRows& task_rows);

// Calls work(Pass) until all of `rows` are done. Many rows are split: each task does everything for its own. Few rows
// stay together, and each operation on them is split.
template <typename Work>
void for_all_rows(const Runtime& runtime, const StackView& stack, const PassRefs& refs, Range rows, const Work& work) {
  const Split split = split_rows(runtime, rows.count);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
    const Range part = split.part_of(rows.count, piece);
    work(make_pass(runtime, stack, refs, part.first,
                   {{rows.first + part.first, part.count}, task, split.n_tasks > 1 ? 1 : runtime.threads}));
  });
}

// Hands rows of d_model values to the trace hook: the pass's rows of x.
inline void trace(const Pass& pass, const char* name, int32_t layer, uint32_t first_row, const float* x) {
  trace_rows(pass.runtime, {name, layer, first_row, x, pass.rows.count, pass.stack.d_model, pass.stack.d_model_padded});
}

}  // namespace goldcrest
