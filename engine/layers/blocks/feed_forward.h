// SPDX-License-Identifier: Apache-2.0
// The feed-forward block: out(activation(in(h)))       Vaswani et al. 2017, eq. 2
// With a gate: out(activation(gate(h)) * in(h))        Shazeer 2020, eq. 6
#pragma once

#include "layers/linear.h"

namespace goldcrest {

// x = x + feed_forward(h); x: [rows, d_model padded]
inline void add_feed_forward(const Pass& pass, const FeedForwardView& block, Quantized h, float* x) {
  float* const inner = pass.projected;  // [rows, d_ff padded], twice that before a gate is applied
  multiply_activated(pass, block.in, pass.stack.activation, h, inner);
  add_product(pass, block.out, quantize(pass, block.out, inner), x);
}

template <typename Visit>
void for_each_call_site(const StackView& stack, const LayerKind&, const FeedForwardView& block, const Visit& visit) {
  if (stack.has_gates()) {
    const uint32_t half = block.in.n / 2;
    visit(LinearCallSite{slice_outputs(block.in, 0, half), stack.activation, false});
    visit(LinearCallSite{slice_outputs(block.in, half, half), Activation::kNone, false});
  } else {
    visit(LinearCallSite{block.in, stack.activation, false});
  }
  visit(LinearCallSite{block.out, Activation::kNone, true});
}

}  // namespace goldcrest
