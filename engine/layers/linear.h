// SPDX-License-Identifier: Apache-2.0
// Linear layers over the rows of a pass. Quantize the rows once (for float32 files this copies them), then multiply
// them by each matrix that shares them.
#pragma once

#include "layers/pass.h"

namespace goldcrest {
// Quantized rows of a pass, [rows, k] in pass.inputs, and their remainders. They are valid until the pass quantizes
// others.
struct Quantized {
  uint32_t k;
};

// Quantizes the rows x [rows, matrix.k], dense, for one matrix, or for several of which none or each has fine inputs.
// There are remainders if the matrix has fine inputs and the search is not coarse.
Quantized quantize(const Pass& pass, const LinearView& matrix, const float* x);

// The end of a product: y = activation(matrix(x)) + residual.
struct Finish {
  Activation activation = Activation::kNone;
  const float* residual = nullptr;  // null: none; may be y
};

// y [rows, matrix.n], dense, = finish(matrix(x)) with x [rows, matrix.k]. y may be the buffer that was quantized,
// because no product reads it. Splits the outputs over tasks if the work is worth more than one task.
void multiply(const Pass& pass, const LinearView& matrix, Quantized x, const Finish& finish, float* y);

// Rows of k values that begin x_stride elements apart; they may overlap.
struct RowsToQuantize {
  const float* x;
  size_t x_stride;
  uint32_t rows, k;
};

// Quantizes rows one by one. If the scratch `remainder` [k] is not null, the remainders of all rows, x - q * scale, are
// quantized after the last row (int8 only).
void quantize_one_by_one(
    const Runtime& runtime, const RowsToQuantize& rows, const LinearInputs& inputs, float* remainder);

// A call of a linear layer in the engine. A backend prepares for each call site.
struct LinearCallSite {
  LinearView view;
  Activation activation;
  bool adds;  // to a residual
};

// Returns the outputs [first, first + n) of a linear layer; first and n must be multiples of 16.
LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n);
}  // namespace goldcrest
