// SPDX-License-Identifier: Apache-2.0
// Layer norm, and the residual around every block.
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

// The start of a block: its norm, and the matrix that multiplies its input.
struct BlockStart {
  const NormView& norm;
  const LinearView& matrix;
};

// Returns a block's input: norm(x), in pass.projected, with pre-norm; x itself with post-norm. x: [rows, d_model
// padded]
const float* norm_input(const Pass& pass, const NormView& norm, const float* x);

// Returns the same, quantized for the block's matrix.
inline Quantized block_input(const Pass& pass, const BlockStart& start, const float* x) {
  return quantize(pass, start.matrix, norm_input(pass, start.norm, x));
}

// Computes a block with its residual and its norm: x = x + block(norm(x)) (pre-norm) or x = norm(x + block(x))
// (post-norm). add_block(h) adds block(h) to x. h is a quantized copy, so no product overwrites it. x: [rows, d_model
// padded]
template <typename AddBlock>
void residual(const Pass& pass, const BlockStart& start, float* x, const AddBlock& add_block) {
  add_block(block_input(pass, start, x));
  if (!pass.stack.pre_norm) layer_norm(pass, start.norm, x);
}
}  // namespace goldcrest
