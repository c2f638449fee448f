// SPDX-License-Identifier: Apache-2.0
// Linear layers over rows of activations: quantize the rows once, then multiply. In float32 files the rows are copied
// and not quantized.
#pragma once

#include "layers/row_scratch.h"

namespace goldcrest {

// scratch.inputs, scratch.row_scales <- x [rows, n], row stride n; n % 16 == 0.
void quantize(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch);

// y [rows, view.n] = activation(view(inputs)) + residual; row strides of y and residual are view.n.
// residual: null or a buffer of y's shape, also y itself. Split by outputs where the work is worth scratch.n_tasks
// tasks.
void linear(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows,
            Activation activation, const float* residual, float* y);

// The outputs [first, first + n) of a linear layer; both multiples of 16.
LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n);

// The kernel's arguments for a view; x, rows and y are the inputs, as in `linear`.
LinearArgs<int8_t> linear_args(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                               uint32_t rows);

}  // namespace goldcrest
