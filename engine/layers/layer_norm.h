// SPDX-License-Identifier: Apache-2.0
// Layer norm over rows of activations.
#pragma once

#include "layers/runtime.h"

namespace goldcrest {

// y = norm(x), rows of a stack's d_model; y may be x.
void layer_norm(const Runtime& runtime, const NormView& view, const StackView& stack, const float* x, uint32_t rows,
                float* y);

}  // namespace goldcrest
