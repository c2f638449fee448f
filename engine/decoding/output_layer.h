// SPDX-License-Identifier: Apache-2.0
// The output layer: the logits of the current position's rows over their outputs, and what is kept of them.
#pragma once

#include "decoding/output_set.h"
#include "decoding/search.h"
#include "layers/linear.h"

namespace goldcrest {

// Merges the logits [256] of the outputs `block` of the set into a row's candidates; -infinity never enters.
void collect(const Kernels& kernels, const OutputSet& outputs, Range block, const Candidates& lists, uint32_t row);

// Computes all rows: their candidates, log-sum-exp parts and logits hashes.
void run_output_layer(const Search& search);

// What the value of a row's candidate is above its log-probability.
float row_normalizer(const Search& search, const Candidates& lists, uint32_t row);

// visit(LinearCallSite) for every call of a linear layer that the output layer makes of the whole vocabulary: its
// blocks. Candidates are gathered, and no backend knows them.
template <typename Visit>
void for_each_output_call_site(const ModelView& model, const Visit& visit) {
  for (uint32_t first = 0; first < model.projection.n; first += kOutputBlock) {
    const uint32_t left = model.projection.n - first;
    visit(LinearCallSite{slice_outputs(model.projection, first, left < kOutputBlock ? left : kOutputBlock),
                         Activation::kNone, false});
  }
}

}  // namespace goldcrest
