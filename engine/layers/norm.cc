// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/norm.h"

namespace goldcrest {
void layer_norm(const Runtime& runtime, const StackView& stack, const NormView& norm, const NormedRows& rows) {
  runtime.kernels->layer_norm({rows.x, rows.y, runtime.tensor<float>(norm.gamma), runtime.tensor<float>(norm.beta),
      stack.d_model_padded, rows.rows, stack.d_model, stack.d_model_padded, norm.epsilon, stack.centred});
}

Quantized block_input(const Pass& pass, const NormView& norm, const LinearView& matrix, const float* x) {
  if (!pass.stack.pre_norm) return quantize(pass, matrix, x);
  layer_norm(pass.runtime, pass.stack, norm, {x, pass.projected, pass.rows.count});
  return quantize(pass, matrix, pass.projected);
}

void end_block(const Pass& pass, const NormView& norm, float* x) {
  if (!pass.stack.pre_norm) layer_norm(pass, norm, x);
}
}  // namespace goldcrest
