// SPDX-License-Identifier: Apache-2.0
#include "layers/attention.h"

#include "layers/float32.h"

namespace goldcrest {

void attend(const Runtime& runtime, const StackView& stack, const QueryRows& queries, const KvCache& cache,
            const KeyRange& keys, const HeadGroup& group, const RowScratch& scratch) {
  if (runs_float32(runtime)) return attend_float(runtime, stack, queries, cache, keys, group, scratch);
  const size_t first_column = size_t{group.heads.first} * stack.d_head;
  const size_t first_key = group.heads.first * cache.rows + keys.first;
  AttentionArgs args = {};
  args.q = queries.queries + first_column;
  args.q_stride = queries.stride;
  args.keys = cache.keys + first_key * stack.d_head;
  args.values = cache.values + first_key * stack.d_head;
  args.key_scales = cache.key_scales + first_key;
  args.value_scales = cache.value_scales + first_key;
  args.head_stride = cache.rows;
  args.position_stride = keys.position_stride;
  args.ancestor = keys.ancestor;
  args.ancestor_stride = keys.ancestor_stride;
  args.n_keys = keys.n_keys;
  args.n_heads = group.heads.count;
  args.d_head = stack.d_head;
  args.scale = stack.attention_scale;
  args.rows = queries.rows;
  args.out_stride = stack.attention_width();
  args.out = scratch.attention_out + queries.first_row * args.out_stride + first_column;
  args.weights = group.weights;
  args.q_row = group.query_row;
  runtime.kernels->attention(args);
}

}  // namespace goldcrest
