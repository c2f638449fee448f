// SPDX-License-Identifier: Apache-2.0
// A pass takes some rows through one layer: one task computes them, with the buffers that they need. Encoder and
// decoder use the same passes.
#pragma once

#include "layers/operations.h"

namespace goldcrest {
struct PassRefs {
  BufferRef inputs, row_scales, projected, attended, attention_weights, query_row;
  uint32_t input_bytes, projected_width, attention_width;  // a row's, with its remainder
  bool has_fine;                                           // each row may have a remainder
  BufferRef products;                                      // the remainders'; unplanned in models without them
};

// The needs of the rows that pass some matrices.
struct MatrixNeeds {
  uint32_t input, output;  // widths of the widest rows that the matrices read and write, padded
  uint64_t macs;           // multiply-accumulates of a row
};

// The needs of each stack's pass. The encoder's pass also multiplies the decoder's matrices that read the source.
struct PassNeeds {
  MatrixNeeds encoder, decoder;
};

// Returns how often rows are multiplied by each matrix, at most, if some have fine inputs.
constexpr uint64_t products_of_rows(bool has_fine) { return kHasAccuracy && has_fine ? 2 : 1; }

// Returns how often a row or its remainder is multiplied by the weights of a matrix, at most.
inline uint64_t products_of_weights(const ModelView& model) {
  return has_feature(model.features, kFeatureRefinedWeights) ? 2 : 1;
}

// Returns the multiply-accumulates of the widest matrices of a pass for each of its rows.
inline uint64_t row_macs(const ModelView& model, bool has_fine, const MatrixNeeds& needs) {
  return products_of_rows(has_fine) * products_of_weights(model) * needs.macs;
}

// Adds the matrices of a layer to `needs`.
void add_layer(const LayerKind& kind, const StackView& stack, uint32_t source_d_model, PassNeeds& needs);

struct PassPlan {
  Phase phase;
  const MatrixNeeds& matrices;
  uint8_t rows[2];  // goldcrest_factor: the rows are their product
  uint8_t keys;     // goldcrest_factor: of the longest attention
  bool has_fine;    // the rows may have remainders
};

PassRefs plan_pass(Plan& plan, const StackView& stack, const PassPlan& wanted);

struct Pass {
  const Runtime& runtime;
  const StackView& stack;
  Range rows;           // rows of the layer; this task computes them
  uint32_t n_tasks;     // an operation on these rows may be split into this many
  LinearInputs inputs;  // written only by quantize; remainders are after the inputs of all rows
  float* projected;     // [rows, widest output]: products that are not added to x, such as queries or d_ff values
  float* attended;      // [rows, n_heads * d_head]: the output of attention
  // For each task that an operation is split into: [keys padded to 16], and AttentionCall's query_row.
  float* attention_weights;
  uint8_t* query_row;
  size_t attention_weights_stride, query_row_stride;  // elements, bytes
  FineScratch fine;
};

// The rows that a task computes, and the number of tasks that an operation on them may be split into.
struct TaskRows {
  Range rows;
  uint32_t task, n_tasks;
};

// Makes a pass whose rows are stored from `first_row` of the planned buffers on.
Pass make_pass(const Runtime& runtime, const StackView& stack, const PassRefs& refs, uint32_t first_row,
    const TaskRows& task_rows);

// Calls work(Pass) until all of `rows` are done. Many rows are split: each task does everything for its own rows. Few
// rows stay in one pass, and each operation on them is split.
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
