// SPDX-License-Identifier: Apache-2.0
// The best few tokens of each row, listed block by block of the output layer, and the row's log-sum-exp.
//
// A row's list is ordered by value, descending, then by token, ascending.
#pragma once

#include "decoding/search/place.h"
#include "kernels/reference/reference.h"
#include "layers/parallel.h"

namespace goldcrest {
// Each task has its own logits and lists; block_max and block_sum are shared.
struct TopTokenRefs {
  BufferRef logits;     // float [rows, 256], the current block
  BufferRef block_max;  // float [rows, blocks of the vocabulary]
  BufferRef block_sum;  // float [rows, blocks of the vocabulary]
  BufferRef values;     // float [rows, (1 + end ids) * beam_size]
  BufferRef tokens;     // int32 [rows, (1 + end ids) * beam_size]
  BufferRef counts;     // uint32 [rows]
};

TopTokenRefs plan_top_tokens(Plan& plan, const ModelView& model);

// Shapes as in TopTokenRefs.
struct TopTokenBuffers {
  TaskBuffer<float> logits;
  float* block_max;
  float* block_sum;
  TaskBuffer<float> values;
  TaskBuffer<int32_t> tokens;
  TaskBuffer<uint32_t> counts;
  uint32_t block_stride;  // from one row's sums to the next row's
};

void place_top_tokens(const Runtime& runtime, const TopTokenRefs& refs, TopTokenBuffers* placed);

// The lists of one task, and the sums of all.
struct TopTokens {
  float* logits;
  float* block_max;
  float* block_sum;
  float* values;
  int32_t* tokens;
  uint32_t* counts;
  uint32_t per_row;       // tokens in the list of a row
  uint32_t n_blocks;      // blocks of the rows' outputs
  uint32_t block_stride;  // from one row's sums to the next row's

  float* row_values(uint32_t row) const { return values + size_t{row} * per_row; }
  int32_t* row_tokens(uint32_t row) const { return tokens + size_t{row} * per_row; }
  LargestNumbers of(uint32_t row) const { return {row_values(row), row_tokens(row), counts + row, per_row}; }
};

// Returns the lists of a task, for rows with this many outputs. After merge_top_tokens, the lists of task 0 cover all
// outputs.
TopTokens top_tokens(const TopTokenBuffers& buffers, uint32_t per_row, uint32_t n_outputs, uint32_t task);

// Returns whether logits of an output block can still enter a row's list. The block's block_max must be known.
bool may_enter(const TopTokens& lists, uint32_t row, uint32_t block);

// Merges a row's list of other outputs into `into`.
void merge_top_tokens(const TopTokens& into, const TopTokens& others, uint32_t row);

// Returns base^exponent for base >= 1; exact for the exponents 0 and 1.
float power(float base, float exponent);

// Returns M + log(sum over blocks b of block_sum[b] * exp(block_max[b] - M)) with M = max block_max[b], in block order.
float log_sum_exp(const TopTokens& lists, uint32_t row);
}  // namespace goldcrest
