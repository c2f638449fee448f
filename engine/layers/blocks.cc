// SPDX-License-Identifier: Apache-2.0
#include "layers/blocks.h"

#include "layers/linear.h"

namespace goldcrest {

void enter_block(const Runtime& runtime, const StackView& stack, const NormView& norm, const float* x, uint32_t rows,
                 const RowScratch& scratch) {
  if (stack.pre_norm) {
    layer_norm(runtime, norm, stack, x, rows, scratch.wide);
    x = scratch.wide;
  }
  quantize(runtime, x, rows, stack.d_model_padded, scratch);
}

void leave_block(const Runtime& runtime, const StackView& stack, const LinearView& out, const NormView& norm, float* x,
                 uint32_t rows, const RowScratch& scratch) {
  linear(runtime, out, scratch, rows, Activation::kNone, x, x);
  if (!stack.pre_norm) layer_norm(runtime, norm, stack, x, rows, x);
}

void feed_forward(const Runtime& runtime, const StackView& stack, const FeedForwardView& view, float* x, uint32_t rows,
                  const RowScratch& scratch) {
  enter_block(runtime, stack, view.norm, x, rows, scratch);
  linear(runtime, view.in, scratch, rows, stack.activation, nullptr, scratch.wide);
  quantize(runtime, scratch.wide, rows, view.in.n, scratch);
  leave_block(runtime, stack, view.out, view.norm, x, rows, scratch);
}

void attend(const Runtime& runtime, const StackView& stack, const float* queries, size_t query_stride, uint32_t first_row,
            uint32_t rows, const KvCache& cache, const KeyRange& keys, const RowScratch& scratch) {
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

void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  const uint32_t n = stack.d_model_padded;
  runtime.kernels->embed({runtime.tensor<int8_t>(stack.embedding.weights), runtime.tensor<float>(stack.embedding.scale),
                          runtime.tensor<float>(stack.positions) + size_t{position} * n, x, token, n, stack.embedding_scale,
                          stack.embedding.layout});
  if (stack.embedding_norm.present()) layer_norm(runtime, stack.embedding_norm, stack, x, 1, x);
}

}  // namespace goldcrest
