// SPDX-License-Identifier: Apache-2.0
// Layer norm, and what a block begins and ends with: x = x + block(norm(x)) (pre-norm) or x = norm(x + block(x))
// (post-norm). The block's input is a quantized copy, so no product overwrites it.
#pragma once

#include "layers/linear.h"

namespace goldcrest {
// y = norm(x), rows of a stack's d_model, padded; y may be x.
struct NormedRows {
  const float* x;
  float* y;
  uint32_t rows;
};
void layer_norm(const Runtime& runtime, const StackView& stack, const NormView& norm, const NormedRows& rows);

// x = norm(x), for the pass's rows.
inline void layer_norm(const Pass& pass, const NormView& norm, float* x) {
  layer_norm(pass.runtime, pass.stack, norm, {x, x, pass.rows.count});
}

// Returns a block's input, quantized for the matrix that multiplies it: norm(x), by way of pass.projected, with
// pre-norm; x itself with post-norm. x: [rows, d_model padded]
Quantized block_input(const Pass& pass, const NormView& norm, const LinearView& matrix, const float* x);

// Ends a block whose last product was added to x: x = norm(x) with post-norm.
void end_block(const Pass& pass, const NormView& norm, float* x);
}  // namespace goldcrest
