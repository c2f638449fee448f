// SPDX-License-Identifier: Apache-2.0
// The feed-forward block: out(activation(in(h)))       Vaswani et al. 2017, eq. 2
// With a gate: out(activation(gate(h)) * in(h))        Shazeer 2020, eq. 6
#pragma once

#include "layers/norm.h"

namespace goldcrest {
// Computes the block with its norm; x: [rows, d_model padded].
// With a gate, gate and value are the first and the second half of in(h). Small code: nearly all of its time is in the
// products.
[[gnu::noinline]] inline void add_feed_forward(const Pass& pass, const FeedForwardView& block, float* x) {
  const Quantized h = block_input(pass, block.norm, block.in, x);
  float* const inner = pass.projected;  // [rows, d_ff padded], twice that before a gate is applied
  if (pass.stack.has_gates()) {
    const uint32_t half = block.in.n / 2;
    const size_t n = size_t{pass.rows.count} * half;
    multiply(pass, slice_outputs(block.in, 0, half), h, {pass.stack.activation}, inner);
    multiply(pass, slice_outputs(block.in, half, half), h, {}, inner + n);
    for (size_t i = 0; i < n; ++i) inner[i] = inner[i] * inner[n + i];
  } else {
    multiply(pass, block.in, h, {pass.stack.activation}, inner);
  }
  multiply(pass, block.out, quantize(pass, block.out, inner), {Activation::kNone, x}, x);
  end_block(pass, block.norm, x);
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
