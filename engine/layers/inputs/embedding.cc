// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/inputs/embedding.h"
#include "layers/norm.h"
#include "layers/operations.h"

namespace goldcrest {
void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  operations(runtime).embed(runtime, stack, token, position, x);
  if (stack.embedding_norm.present()) layer_norm(runtime, stack, stack.embedding_norm, {x, x, 1});
}
}  // namespace goldcrest
