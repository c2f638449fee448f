// SPDX-License-Identifier: Apache-2.0
// The matrices of a cross-attention block as they are called.
#pragma once

#include "layers/linear.h"

namespace goldcrest {

// visit(LinearUse) for every call of a linear layer that the block makes: keys and values once a source, the others at
// every target position.
template <typename Visit>
void for_each_linear_use(const CrossAttentionView& block, const Visit& visit) {
  visit(LinearUse{block.key_value, Activation::kNone, false});
  visit(LinearUse{block.query, Activation::kNone, false});
  visit(LinearUse{block.out, Activation::kNone, true});
}

}  // namespace goldcrest
