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
// quantized after the last row (int8 only). Small code: nearly all of its time is in the kernels.
[[gnu::noinline]] inline void quantize_one_by_one(
    const Runtime& runtime, const RowsToQuantize& rows, const LinearInputs& inputs, float* remainder) {
  if (kHasOnePass && remainder != nullptr && runtime.kernels->quantize_fine_inputs != nullptr)
    return runtime.kernels->quantize_fine_inputs(
        {rows.x, static_cast<int8_t*>(inputs.rows), inputs.scales, rows.x_stride, rows.k, 1, rows.rows, rows.k},
        remainder);
  const uint32_t k = rows.k, row_bytes = k * bytes_of(runtime.model.encoder.input_type);
  const uint32_t end = remainder != nullptr ? 2 * rows.rows : rows.rows;
  const float* x = rows.x;
  for (uint32_t i = 0; i < rows.rows; ++i, x += rows.x_stride) {
    const float* from = x;  // then the remainder
    for (uint32_t at = i; at < end; at += rows.rows, from = remainder) {
      const LinearInputs to = {static_cast<uint8_t*>(inputs.rows) + size_t{at} * row_bytes,
          inputs.scales != nullptr ? inputs.scales + at : nullptr};
      operations(runtime).quantize(runtime, from, 1, k, to);
      if (at + rows.rows >= end) continue;
      // x + q * -scale, the embedding of a token at a position, has the bits of x - q * scale.
      const float scale = -*to.scales;
      runtime.kernels->int8.embed(
          {static_cast<const int8_t*>(to.rows), &scale, x, remainder, 0, k, 1.0f, Layout::kRowMajor});
    }
  }
}

// A call of a linear layer in the engine. A backend prepares for each call site.
struct LinearCallSite {
  LinearView view;
  Activation activation;
  bool adds;  // to a residual
};

// Returns the outputs [first, first + n) of a linear layer; first and n must be multiples of 16.
LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n);
}  // namespace goldcrest
