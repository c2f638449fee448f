// SPDX-License-Identifier: Apache-2.0
#include "layers/attention.h"

#include "layers/float32.h"

namespace goldcrest {

namespace {

// All that int8 and float caches have alike. Element is the cache's.
template <typename Element, typename Args>
Args attention_args(const StackView& stack, const QueryRows& queries, const KvCache& cache, const KeyRange& keys,
                    const HeadGroup& group, const RowScratch& scratch) {
  const size_t first_column = size_t{group.heads.first} * stack.d_head;
  const size_t first_element = (group.heads.first * cache.rows + keys.first) * stack.d_head;
  Args args = {};
  args.q = queries.queries + first_column;
  args.q_stride = queries.stride;
  args.keys = reinterpret_cast<const Element*>(cache.keys) + first_element;
  args.values = reinterpret_cast<const Element*>(cache.values) + first_element;
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
  args.q_row = reinterpret_cast<Element*>(group.query_row);
  return args;
}

}  // namespace

void attend(const Runtime& runtime, const StackView& stack, const QueryRows& queries, const KvCache& cache,
            const KeyRange& keys, const HeadGroup& group, const RowScratch& scratch) {
  if (runs_float32(runtime)) {
    runtime.kernels->float32->attention(
        attention_args<float, AttentionArgs<float>>(stack, queries, cache, keys, group, scratch));
    return;
  }
  AttentionArgs<int8_t> args =
      attention_args<int8_t, AttentionArgs<int8_t>>(stack, queries, cache, keys, group, scratch);
  const size_t first_scale = group.heads.first * cache.rows + keys.first;
  args.key_scales = cache.key_scales + first_scale;
  args.value_scales = cache.value_scales + first_scale;
  runtime.kernels->int8.attention(args);
}

}  // namespace goldcrest
