// SPDX-License-Identifier: Apache-2.0
// The output layer: the logits of the current position's rows over a set of outputs, and what is kept of them.
#pragma once

#include "decoding/search.h"
#include "layers/linear.h"

namespace goldcrest {

// The outputs that are computed, in ascending order of their token ids: the whole vocabulary, whose output i is token
// i. Another set would be other panels and ids of its own; nothing but output_token and output_of_token knows them.
struct OutputSet {
  LinearView panels;  // [n padded, d_model]
  uint32_t n;
};

inline OutputSet dense_outputs(const ModelView& model) { return {model.projection, model.vocab_size}; }
inline uint32_t output_token(const OutputSet&, uint32_t output) { return output; }
// An index >= n where the set lacks the token.
inline uint32_t output_of_token(const OutputSet&, uint32_t token) { return token; }

inline uint32_t count_output_blocks(uint32_t n_outputs) { return (n_outputs + kOutputBlock - 1) / kOutputBlock; }

// Merges the logits [256] of the outputs `block` of the set into a row's candidates; -infinity never enters.
void collect(const Kernels& kernels, const OutputSet& outputs, Range block, const Candidates& lists, uint32_t row);

// Computes all rows: their candidates, log-sum-exp parts and logits hashes.
void run_output_layer(const Search& search);

// What the value of a row's candidate is above its log-probability.
float row_normalizer(const Search& search, const Candidates& lists, uint32_t row);

// visit(LinearUse) for every call of a linear layer that the output layer makes: its blocks.
template <typename Visit>
void for_each_output_use(const OutputSet& outputs, const Visit& visit) {
  for (uint32_t first = 0; first < outputs.n; first += kOutputBlock) {
    const uint32_t left = pad16(outputs.n - first);
    visit(LinearUse{slice_outputs(outputs.panels, first, left < kOutputBlock ? left : kOutputBlock), Activation::kNone,
                    false});
  }
}

}  // namespace goldcrest
