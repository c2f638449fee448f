// SPDX-License-Identifier: Apache-2.0
// Rotary positions: queries and keys of self-attention turn by their position, so that their products depend on
// distances.                                                                              Su et al. 2021, equation 34
#pragma once

#include "layers/runtime.h"

namespace goldcrest {
// Turns n heads of one row in place: columns c and c + half of each head are a pair, for c < half. Other columns stay.
// heads: [n, d_head]. Defined in attention.cc, so that there is one copy.
void turn_heads(const Runtime& runtime, const StackView& stack, uint32_t position, uint32_t n, float* heads);
}  // namespace goldcrest
