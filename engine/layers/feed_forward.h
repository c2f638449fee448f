// SPDX-License-Identifier: Apache-2.0
// The residual block that attention and feed-forward share, and the feed-forward block itself. Each block does
// x = x + f(norm(x)) (pre-norm) or x = norm(x + f(x)) (post-norm) on rows of d_model.
#pragma once

#include "layers/row_scratch.h"

namespace goldcrest {

// scratch.inputs <- the rows that enter a block: x, or norm(x) with pre-norm.
void enter_block(const Runtime& runtime, const StackView& stack, const NormView& norm, const float* x, uint32_t rows,
                 const RowScratch& scratch);

// x <- x + out(inputs), then norm with post-norm.
void leave_block(const Runtime& runtime, const StackView& stack, const LinearView& out, const NormView& norm, float* x,
                 uint32_t rows, const RowScratch& scratch);

void feed_forward(const Runtime& runtime, const StackView& stack, const FeedForwardView& view, float* x, uint32_t rows,
                  const RowScratch& scratch);

}  // namespace goldcrest
