// SPDX-License-Identifier: Apache-2.0
// Linear layers over the rows of a pass: quantize the rows (float32 files: copy them), then multiply.
#pragma once

#include "layers/pass.h"

namespace goldcrest {

// y [rows, view.n] = view(x), x [rows, view.k]; dense rows. y may be x, and may lie over it. Split by outputs where the
// work is worth more than one task.
void linear(const Pass& pass, const LinearView& view, const float* x, float* y);

// y = activation(view(x))
void linear_activated(const Pass& pass, const LinearView& view, Activation activation, const float* x, float* y);

// y = y + view(x)
void add_linear(const Pass& pass, const LinearView& view, const float* x, float* y);

// One call of a linear layer, as the lists of a block's calls have it (for_each_..._use): what a backend prepares for.
struct LinearUse {
  LinearView view;
  Activation activation;
  bool adds;  // to a residual
};

// The outputs [first, first + n) of a linear layer; both multiples of 16.
LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n);

}  // namespace goldcrest
