// SPDX-License-Identifier: Apache-2.0
#include "layers/embedding.h"

#include "layers/float32.h"
#include "layers/layer_norm.h"

namespace goldcrest {

namespace {

void embed_row(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  if (runs_float32(runtime)) return embed_row_float(runtime, stack, token, position, x);
  const uint32_t n = stack.d_model_padded;
  runtime.kernels->int8.embed({runtime.tensor<int8_t>(stack.embedding.weights),
                               runtime.tensor<float>(stack.embedding.scale),
                               runtime.tensor<float>(stack.positions) + size_t{position} * n, x, token, n,
                               stack.embedding_scale, stack.embedding.layout});
}

}  // namespace

void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  embed_row(runtime, stack, token, position, x);
  if (stack.embedding_norm.present()) layer_norm(runtime, stack.embedding_norm, stack, x, 1, x);
}

}  // namespace goldcrest
