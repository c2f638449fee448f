// SPDX-License-Identifier: Apache-2.0
// Linear layers over the rows of a pass: quantize the rows once (float32 files: copy them), then multiply them by each
// matrix that shares them.
#pragma once

#include "layers/pass.h"

namespace goldcrest {

// The rows of a pass as linear layers read them, [rows, k] in pass.inputs, until the pass quantizes others.
struct Quantized {
  uint32_t k;
};

// x: [rows, k], dense
Quantized quantize(const Pass& pass, const float* x, uint32_t k);

// y [rows, view.n] = view(x), x [rows, view.k]; dense rows. y may be what was quantized: no product reads it. Split by
// outputs where the work is worth more than one task.
void multiply(const Pass& pass, const LinearView& view, Quantized x, float* y);

// y = activation(view(x))
void multiply_activated(const Pass& pass, const LinearView& view, Activation activation, Quantized x, float* y);

// y = y + view(x)
void add_product(const Pass& pass, const LinearView& view, Quantized x, float* y);

// One call of a linear layer, which a backend prepares for.
struct LinearCallSite {
  LinearView view;
  Activation activation;
  bool adds;  // to a residual
};

// The outputs [first, first + n) of a linear layer; both multiples of 16.
LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n);

}  // namespace goldcrest
