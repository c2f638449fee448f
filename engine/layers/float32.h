// SPDX-License-Identifier: Apache-2.0
// The layers' operations for float32 files: each int8 operation hands over to the one here of the same shape, and above
// them encoder and decoder are the same. Inputs of linear layers, keys and values are floats in buffers four times as
// large, without scales.
#pragma once

#include "base/build_options.h"
#include "layers/kv_cache.h"
#include "layers/row_scratch.h"

namespace goldcrest {

inline bool runs_float32(const Runtime& runtime) {
  return kHasFloat32 && runtime.model.projection.weight_bytes == sizeof(float);
}

// scratch.inputs <- x [rows, n], row stride n.
void copy_inputs(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch);

// y = activation(view(inputs)) + residual; all but the view's tensors as `args` has it.
void linear_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                  const LinearArgs<int8_t>& args);

// As the kernel output_block, with args.linear as linear_float takes it.
void output_block_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                        const OutputBlockArgs<int8_t>& args);

// As embed, without the norm.
void embed_row_float(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x);

// As store_key_value.
void store_key_value_float(const Runtime& runtime, const StackView& stack, const float* key, const float* value,
                           size_t row, const KvCache& cache);

}  // namespace goldcrest
