// SPDX-License-Identifier: Apache-2.0
#include "layers/attention.h"

namespace goldcrest {

void attend(const Runtime& runtime, const StackView& stack, const float* queries, size_t query_stride,
            uint32_t first_row, uint32_t rows, const KvCache& cache, const KeyRange& keys, const RowScratch& scratch) {
  AttentionArgs args = {};
  args.q = queries;
  args.q_stride = query_stride;
  args.keys = cache.keys + keys.first * stack.d_head;
  args.values = cache.values + keys.first * stack.d_head;
  args.key_scales = cache.key_scales + keys.first;
  args.value_scales = cache.value_scales + keys.first;
  args.head_stride = cache.rows;
  args.position_stride = keys.position_stride;
  args.ancestor = keys.ancestor;
  args.ancestor_stride = keys.ancestor_stride;
  args.n_keys = keys.n_keys;
  args.n_heads = stack.n_heads;
  args.d_head = stack.d_head;
  args.scale = stack.attention_scale;
  args.rows = rows;
  args.out_stride = stack.attention_width();
  args.out = scratch.attention_out + first_row * args.out_stride;
  args.weights = scratch.attention_weights;
  args.q_row = scratch.query_row;
  runtime.kernels->attention(args);
}

}  // namespace goldcrest
