// SPDX-License-Identifier: Apache-2.0
// Attention of rows of queries over a cache of keys and values.
#pragma once

#include "layers/kv_cache.h"
#include "layers/row_scratch.h"

namespace goldcrest {

// What one query value and its key and value take, in multiply-accumulates of a linear layer.
constexpr uint64_t kAttentionCost = 8;

// Which keys a group of query rows sees.
struct KeyRange {
  size_t first;            // row of the cache at which key 0 of slot 0 lies
  size_t position_stride;  // rows of the cache from one key to the next
  uint32_t n_keys;
  const uint8_t* ancestor;  // [n_keys, ancestor_stride]: slot of each key for each query row; null: slot 0
  size_t ancestor_stride;
};

// Query rows of one sentence.
struct QueryRows {
  const float* queries;  // [rows, n_heads * d_head], row stride `stride`
  size_t stride;
  uint32_t first_row, rows;  // where their results lie in scratch.attention_out
};

// Some heads of a stack, and the scratch to compute them with.
struct HeadGroup {
  Range heads;
  float* weights;
  int8_t* query_row;
};

// Those heads of scratch.attention_out rows [first_row, first_row + rows) <- attention of the queries over the cache.
void attend(const Runtime& runtime, const StackView& stack, const QueryRows& queries, const KvCache& cache,
            const KeyRange& keys, const HeadGroup& group, const RowScratch& scratch);

// Calls work(HeadGroup) for groups of heads that are all of them together; `n_products`: pairs of a query row and a
// key, from which follows how many tasks are worth it.
template <typename Work>
void for_all_heads(const Runtime& runtime, const StackView& stack, uint64_t n_products, const RowScratch& scratch,
                   const Work& work) {
  const uint32_t most = stack.n_heads < scratch.n_tasks ? stack.n_heads : scratch.n_tasks;
  const uint32_t n_tasks = count_tasks(n_products * stack.attention_width() * kAttentionCost, most);
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    work(HeadGroup{part_of(stack.n_heads, task, n_tasks),
                   scratch.attention_weights + task * scratch.attention_weights_stride,
                   scratch.query_row + task * scratch.query_row_stride});
  });
}

}  // namespace goldcrest
