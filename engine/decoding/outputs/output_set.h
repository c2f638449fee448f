// SPDX-License-Identifier: Apache-2.0
// The outputs that are computed for a row: the whole vocabulary, or the candidates of a sentence. An output set has
// panels of weights and their token ids, in ascending order.
#pragma once

#include "layers/operations.h"

namespace goldcrest {
struct OutputSet {
  LinearTensors panels;  // [n padded, d_model padded]
  const uint32_t* ids;   // [n] tokens, ascending; null: output i is token i
  uint32_t n;

  bool is_whole() const { return !kHasShortlist || ids == nullptr; }
};

inline uint32_t output_token(const OutputSet& set, uint32_t output) {
  return set.is_whole() ? output : set.ids[output];
}

// Returns the index of a token among the outputs `block` of the set, from 0; block.count if it is not among them.
inline uint32_t index_in_block(const OutputSet& set, Range block, uint32_t token) {
  if (set.is_whole()) {
    const uint32_t index = token - block.first;  // wraps around before the block
    return index < block.count ? index : block.count;
  }
  const uint32_t* const ids = set.ids + block.first;
  uint32_t low = 0, high = block.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (ids[middle] < token) low = middle + 1;
    else high = middle;
  }
  return low < block.count && ids[low] == token ? low : block.count;
}

inline uint32_t count_output_blocks(uint32_t n_outputs) { return (n_outputs + kOutputBlock - 1) / kOutputBlock; }
}  // namespace goldcrest
