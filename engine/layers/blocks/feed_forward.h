// SPDX-License-Identifier: Apache-2.0
// The feed-forward block: out(activation(in(h)))       Vaswani et al. 2017, eq. 2
#pragma once

#include "layers/linear.h"

namespace goldcrest {

// x = x + feed_forward(h); h, x: [rows, d_model padded]; h may be x
inline void add_feed_forward(const Pass& pass, const FeedForwardView& block, const float* h, float* x) {
  linear_activated(pass, block.in, pass.stack.activation, h, pass.inner());
  add_linear(pass, block.out, pass.inner(), x);
}

// visit(LinearUse) for every call of a linear layer that the block makes.
template <typename Visit>
void for_each_linear_use(const StackView& stack, const FeedForwardView& block, const Visit& visit) {
  visit(LinearUse{block.in, stack.activation, false});
  visit(LinearUse{block.out, Activation::kNone, true});
}

}  // namespace goldcrest
