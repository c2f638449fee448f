// SPDX-License-Identifier: Apache-2.0
#include "layers/feed_forward.h"

#include "layers/layer_norm.h"
#include "layers/linear.h"

namespace goldcrest {

void enter_block(const Runtime& runtime, const StackView& stack, const NormView& norm, const float* x, uint32_t rows,
                 const RowScratch& scratch) {
  if (stack.pre_norm) {
    layer_norm(runtime, norm, stack, x, rows, scratch.wide);
    x = scratch.wide;
  }
  quantize(runtime, x, rows, stack.d_model_padded, scratch);
}

void leave_block(const Runtime& runtime, const StackView& stack, const LinearView& out, const NormView& norm, float* x,
                 uint32_t rows, const RowScratch& scratch) {
  linear(runtime, out, scratch, rows, Activation::kNone, x, x);
  if (!stack.pre_norm) layer_norm(runtime, norm, stack, x, rows, x);
}

void feed_forward(const Runtime& runtime, const StackView& stack, const FeedForwardView& view, float* x, uint32_t rows,
                  const RowScratch& scratch) {
  enter_block(runtime, stack, view.norm, x, rows, scratch);
  linear(runtime, view.in, scratch, rows, stack.activation, nullptr, scratch.wide);
  quantize(runtime, scratch.wide, rows, view.in.n, scratch);
  leave_block(runtime, stack, view.out, view.norm, x, rows, scratch);
}

}  // namespace goldcrest
