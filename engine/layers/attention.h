// SPDX-License-Identifier: Apache-2.0
// Attention of rows of queries over a cache of keys and values.
#pragma once

#include "layers/kv_cache.h"
#include "layers/row_scratch.h"

namespace goldcrest {

// Which keys a group of query rows sees.
struct KeyRange {
  size_t first;            // row of the cache at which key 0 of slot 0 lies
  size_t position_stride;  // rows of the cache from one key to the next
  uint32_t n_keys;
  const uint8_t* ancestor;  // [n_keys, ancestor_stride]: slot of each key for each query row; null: slot 0
  size_t ancestor_stride;
};

// scratch.attention_out rows [first_row, first_row + rows) <- attention of the queries over the cache.
// queries: [rows, n_heads * d_head], row stride query_stride.
void attend(const Runtime& runtime, const StackView& stack, const float* queries, size_t query_stride,
            uint32_t first_row, uint32_t rows, const KvCache& cache, const KeyRange& keys, const RowScratch& scratch);

}  // namespace goldcrest
