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

// Returns the quantized input of a block: norm(x) with pre-norm, x itself with post-norm. x: [rows, d_model padded]
Quantized block_input(const Pass& pass, const NormView& norm, const float* x);

// Computes a block with its residual and its norm: x = x + block(norm(x)) (pre-norm) or x = norm(x + block(x))
// (post-norm). add_block(h) adds block(h) to x. h is a quantized copy, so no product overwrites it. x: [rows, d_model
// padded]
template <typename AddBlock>
void residual(const Pass& pass, const NormView& norm, float* x, const AddBlock& add_block) {
  add_block(block_input(pass, norm, x));
  if (!pass.stack.pre_norm) layer_norm(pass, norm, x);
}

}  // namespace goldcrest
