// SPDX-License-Identifier: Apache-2.0
// The feed-forward block: out(activation(in(h)))       Vaswani et al. 2017, eq. 2
// With a gate: out(activation(gate(h)) * in(h))        Shazeer 2020, eq. 6
#pragma once

#include "layers/linear.h"

namespace goldcrest {
// y [rows, half] = activation(gate(h)) * value(h): gate and value are the first and the second half of matrix(h),
// matrix.n / 2 outputs each. y has room for both. Small code: nearly all of its time is in the two products.
[[gnu::noinline]] inline void multiply_gated(const Pass& pass, const LinearView& matrix, Quantized h, float* y) {
  const uint32_t half = matrix.n / 2;
  const size_t n = size_t{pass.rows.count} * half;
  multiply(pass, slice_outputs(matrix, 0, half), h, {pass.stack.activation}, y);
  multiply(pass, slice_outputs(matrix, half, half), h, {}, y + n);
  for (size_t i = 0; i < n; ++i) y[i] = y[i] * y[n + i];
}

// x = x + feed_forward(h); x: [rows, d_model padded]
inline void add_feed_forward(const Pass& pass, const FeedForwardView& block, Quantized h, float* x) {
  float* const inner = pass.projected;  // [rows, d_ff padded], twice that before a gate is applied
  if (pass.stack.has_gates()) multiply_gated(pass, block.in, h, inner);
  else multiply(pass, block.in, h, {pass.stack.activation}, inner);
  multiply(pass, block.out, quantize(pass, block.out, inner), {Activation::kNone, x}, x);
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
