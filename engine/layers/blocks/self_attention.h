// SPDX-License-Identifier: Apache-2.0
// The matrices of a self-attention block as they are called. The decoder makes queries, keys and values in one call.
// The encoder, which goes through a layer in two passes, makes keys and values first and queries later.
#pragma once

#include "layers/linear.h"

namespace goldcrest {

inline LinearView query_of(const StackView& stack, const SelfAttentionView& block) {
  return slice_outputs(block.query_key_value, 0, stack.attention_width());
}

inline LinearView key_value_of(const StackView& stack, const SelfAttentionView& block) {
  return slice_outputs(block.query_key_value, stack.attention_width(), 2 * stack.attention_width());
}

// visit(LinearUse) for every call of a linear layer that the block makes, in an encoder and in a decoder.
template <typename Visit>
void for_each_encoder_use(const StackView& stack, const SelfAttentionView& block, const Visit& visit) {
  visit(LinearUse{key_value_of(stack, block), Activation::kNone, false});
  visit(LinearUse{query_of(stack, block), Activation::kNone, false});
  visit(LinearUse{block.out, Activation::kNone, true});
}

template <typename Visit>
void for_each_decoder_use(const SelfAttentionView& block, const Visit& visit) {
  visit(LinearUse{block.query_key_value, Activation::kNone, false});
  visit(LinearUse{block.out, Activation::kNone, true});
}

}  // namespace goldcrest
