// SPDX-License-Identifier: Apache-2.0
// Embeds tokens and their positions.
#pragma once

#include "layers/runtime.h"

namespace goldcrest {
// x[j] = table[token, j] * embedding_scale + position[j], for one row of d_model. Then applies the stack's embedding
// norm, if the stack has an embedding norm.
void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x);
}  // namespace goldcrest
