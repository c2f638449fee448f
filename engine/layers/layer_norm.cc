// SPDX-License-Identifier: Apache-2.0
#include "layers/layer_norm.h"

namespace goldcrest {

void layer_norm(const Runtime& runtime, const NormView& view, const StackView& stack, const float* x, uint32_t rows,
                float* y) {
  runtime.kernels->layer_norm({x, y, runtime.tensor<float>(view.gamma), runtime.tensor<float>(view.beta),
                               stack.d_model_padded, rows, stack.d_model, stack.d_model_padded, view.epsilon});
}

}  // namespace goldcrest
