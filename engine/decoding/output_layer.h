// SPDX-License-Identifier: Apache-2.0
// The output layer: the logits of the current position's rows over their outputs, and what is kept of them.
#pragma once

#include "decoding/stages.h"
#include "layers/linear.h"

namespace goldcrest {

// Adds the best tokens of a block to its row's list; -infinity never enters.
void collect(const Kernels& kernels, const LogitBlock& block);

// Computes all rows of a position: the lists of their best tokens, log-sum-exp parts and logits hashes.
void run_output_layer(const OutputStep& step);

// Subtract this from a listed value to get its log-probability.
float row_normalizer(const SearchOptions& options, const TopTokens& lists, uint32_t row);

// visit(LinearCallSite) for every call of a linear layer that the output layer makes of the whole vocabulary: its
// blocks. No backend knows the copied panels of a shortlist.
template <typename Visit>
void for_each_output_call_site(const ModelView& model, const Visit& visit) {
  for (uint32_t first = 0; first < model.projection.n; first += kOutputBlock) {
    const uint32_t left = model.projection.n - first;
    visit(LinearCallSite{slice_outputs(model.projection, first, left < kOutputBlock ? left : kOutputBlock),
                         Activation::kNone, false});
  }
}

}  // namespace goldcrest
