// SPDX-License-Identifier: Apache-2.0
// Rotary positions: queries and keys of self-attention turn by their position, so that their products depend on
// distances.                                                                              Su et al. 2021, equation 34
#pragma once

#include "layers/runtime.h"

namespace goldcrest {

// Turns the heads of one row in place: columns c and c + half of each head are a pair, for c < half. Other columns
// stay. heads: [n_heads, d_head]. It is cold so that its code is small: with -O3, GCC 12 makes 822 bytes of vector code
// for the Cortex-M55, instead of 128 bytes.
[[gnu::cold, gnu::noinline]] inline void turn_heads([[maybe_unused]] const Runtime& runtime,
                                                    [[maybe_unused]] const StackView& stack,
                                                    [[maybe_unused]] uint32_t position, [[maybe_unused]] float* heads) {
  if constexpr (kHasRotary) {
    const uint32_t half = stack.rotary.half;
    if (half == 0) return;
    const float* const cosines = runtime.tensor<float>(stack.rotary.table) + size_t{position} * 2 * half;
    const float* const sines = cosines + half;
    for (uint32_t head = 0; head < stack.n_heads; ++head) {
      float* const first = heads + size_t{head} * stack.d_head;
      float* const second = first + half;
      for (uint32_t c = 0; c < half; ++c) {
        const float a = first[c], b = second[c];
        first[c] = a * cosines[c] - b * sines[c];
        second[c] = b * cosines[c] + a * sines[c];
      }
    }
  }
}

}  // namespace goldcrest
