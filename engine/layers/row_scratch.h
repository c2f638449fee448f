// SPDX-License-Identifier: Apache-2.0
// The scratch that a block of rows needs on its way through a layer, encoder and decoder alike.
#pragma once

#include "layers/parallel.h"

namespace goldcrest {

struct RowScratchRefs {
  BufferRef inputs, row_scales, wide, attention_out, attention_weights, query_row;
  uint32_t input_bytes, widest_output, attention_width;
};

// Plans the scratch for `rows` rows (a product of two factors) of a stack. `kv_width`: columns of the widest key-value
// projection that runs in it.
RowScratchRefs plan_row_scratch(Plan& plan, Phase phase, const StackView& stack, uint32_t kv_width, uint8_t rows_factor,
                                uint8_t other_rows_factor, uint8_t keys_factor);

struct RowScratch {
  int8_t* inputs;                                     // [rows, widest input of a linear layer]; floats in float32 files
  float* row_scales;                                  // [rows]; none in float32 files
  float* wide;                                        // [rows, widest output of a linear layer]
  float* attention_out;                               // [rows, n_heads * d_head]
  float* attention_weights;                           // for each task [longest source or target padded to 16]
  int8_t* query_row;                                  // for each task [d_head]; floats in float32 files
  size_t attention_weights_stride, query_row_stride;  // elements from task to task; of query_row bytes
  uint32_t n_tasks;                                   // that an operation on these rows may be split into
};

// The scratch of rows [first_row, ...) of the planned ones. Its per-task parts are those of `task` and the n_tasks - 1
// after it.
RowScratch row_scratch(const Runtime& runtime, const RowScratchRefs& refs, uint32_t first_row, uint32_t task,
                       uint32_t n_tasks);

// Calls work(rows, scratch) until all n_rows rows are done. Many rows are split: each task does everything for its own.
// Few rows stay together, and each operation on them is split.
template <typename Work>
void for_all_rows(const Runtime& runtime, const RowScratchRefs& refs, uint32_t n_rows, const Work& work) {
  const uint32_t n_tasks = count_row_tasks(runtime, n_rows);
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    const Range rows = part_of(n_rows, task, n_tasks);
    work(rows, row_scratch(runtime, refs, rows.first, task, n_tasks > 1 ? 1 : runtime.threads));
  });
}

}  // namespace goldcrest
