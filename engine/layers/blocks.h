// SPDX-License-Identifier: Apache-2.0
// The blocks that encoder and decoder layers are made of. Each does x = x + f(norm(x)) (pre-norm) or
// x = norm(x + f(x)) (post-norm) on rows of d_model.
#pragma once

#include "layers/kv_cache.h"
#include "layers/row_scratch.h"

namespace goldcrest {

// scratch.quantized <- the rows that enter a block: x, or norm(x) with pre-norm.
void enter_block(const Runtime& runtime, const StackView& stack, const NormView& norm, const float* x, uint32_t rows,
                 const RowScratch& scratch);

// x <- x + out(quantized rows), then norm with post-norm.
void leave_block(const Runtime& runtime, const StackView& stack, const LinearView& out, const NormView& norm, float* x,
                 uint32_t rows, const RowScratch& scratch);

void feed_forward(const Runtime& runtime, const StackView& stack, const FeedForwardView& view, float* x, uint32_t rows,
                  const RowScratch& scratch);

// Which keys a group of query rows sees.
struct KeyRange {
  size_t first;             // row of the cache at which key 0 of slot 0 lies
  size_t position_stride;   // rows of the cache from one key to the next
  uint32_t n_keys;
  const uint8_t* ancestor;  // [n_keys, ancestor_stride]: slot of each key for each query row; null: slot 0
  size_t ancestor_stride;
};

// scratch.attention_out rows [first_row, first_row + rows) <- attention of the queries over the cache.
// queries: [rows, n_heads * d_head], row stride query_stride.
void attend(const Runtime& runtime, const StackView& stack, const float* queries, size_t query_stride, uint32_t first_row,
            uint32_t rows, const KvCache& cache, const KeyRange& keys, const RowScratch& scratch);

// x[j] = embedding(token) + position, for one row; then the stack's embedding norm, if any.
void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x);

}  // namespace goldcrest
