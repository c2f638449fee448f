// SPDX-License-Identifier: Apache-2.0
// Computes attention head by head and query by query. Each table for a microcontroller brings its own three steps.
#pragma once

#include "kernels/reference/reference.h"

namespace goldcrest { namespace {
// Yields the key_row of one query for all keys, one after another.
class KeyRows {
 public:
  KeyRows(const AttentionArgs<int8_t>& args, uint32_t row)
      : slot_(args.ancestor != nullptr ? args.ancestor + row : &kFirstSlot),
        slot_stride_(args.ancestor != nullptr ? args.ancestor_stride : 0),
        position_stride_(args.position_stride) {}

  size_t next() {
    const size_t row = position_ + *slot_;
    slot_ += slot_stride_;
    position_ += position_stride_;
    return row;
  }
 private:
  static constexpr uint8_t kFirstSlot = 0;

  const uint8_t* slot_;
  size_t slot_stride_, position_stride_;
  size_t position_ = 0;
};

// quantize_row(x, n, q) writes the quantized query to args.q_row and returns its scale. weigh(args, row, keys, q_scale)
// writes its weights to args.weights and returns the factor of integer weights. sum_values(args, row, values, factor,
// out) computes 16 columns of the result. Always inlined, so that these three are inlined too: otherwise a whole model
// takes 1 % more instructions on a Cortex-M55.
template <typename QuantizeRow, typename Weigh, typename SumValues>
[[gnu::always_inline]] inline void attend_by_rows(const AttentionArgs<int8_t>& args, const QuantizeRow& quantize_row,
    const Weigh& weigh, const SumValues& sum_values) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t head_at = head * args.head_stride;
    const HeadKeys keys = head_keys(args, head);
    const int8_t* values = args.values + head_at * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      const size_t column = size_t{head} * args.d_head;
      const float factor =
          weigh(args, row, keys, quantize_row(args.q + row * args.q_stride + column, args.d_head, args.q_row));
      float* out = args.out + row * args.out_stride + column;
      for (uint32_t j = 0; j < args.d_head; j += 16) sum_values(args, row, values + j, factor, out + j);
    }
  }
}

// Quantizes the rows one at a time with quantize_row.
template <typename QuantizeRow>
[[gnu::always_inline]] inline void quantize_by_rows(
    const QuantizeRowsArgs<int8_t>& args, const QuantizeRow& quantize_row) {
  const size_t n = args.n, x_stride = args.x_stride, q_stride = args.q_stride;
  const float* x = args.x;
  int8_t* q = args.q;
  float* scale = args.scale;
  for (uint32_t row = args.rows; row > 0; --row, x += x_stride, q += q_stride, scale += args.scale_stride)
    *scale = quantize_row(x, n, q);
}
}}  // namespace goldcrest
