// SPDX-License-Identifier: Apache-2.0
// The output layer computes the logits of the current position's rows and lists the best tokens of each row.
#pragma once

#include "decoding/outputs/stages.h"
#include "layers/linear.h"

namespace goldcrest {
// Adds the best tokens of a block to its row's list. A value of -infinity never enters the list.
void collect(const Kernels& kernels, const LogitBlock& block);

// Computes all rows of a position: their lists of best tokens, log-sum-exp parts and logits hashes.
void run_output_layer(const OutputStep& step);

// Subtract this from a listed value to get its log-probability.
float row_normalizer(const SearchOptions& options, const TopTokens& lists, uint32_t row);

// Calls visit(LinearCallSite) for every block of the whole vocabulary: each is one call of a linear layer. A
// shortlist's copied panels are left out, because no backend computes them, as are blocks with remainders or packed
// weights.
template <typename Visit> void for_each_output_call_site(const ModelView& model, const Visit& visit) {
  if (model.projection.has_remainders() || model.projection.is_packed()) return;
  for (uint32_t first = 0; first < model.projection.n; first += kOutputBlock) {
    const uint32_t left = model.projection.n - first;
    visit(LinearCallSite{
        slice_outputs(model.projection, first, left < kOutputBlock ? left : kOutputBlock), Activation::kNone, false});
  }
}
}  // namespace goldcrest
