// SPDX-License-Identifier: Apache-2.0
// Attention head by head and query by query, of a Cortex-M table's own three steps.
#pragma once

#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {

// quantize(QuantizeRowsArgs<int8_t>): the query into args.q_row; weigh(args, row, keys, q_scale):
// its weights into args.weights; sum_values(args, row, values, out): 16 columns of the result. Always
// inlined, so that these are: else a hundredth more instructions for all of a model on a Cortex-M55.
template <typename Quantize, typename Weigh, typename SumValues>
[[gnu::always_inline]] inline void attend_by_rows(const AttentionArgs<int8_t>& args, const Quantize& quantize,
                                                  const Weigh& weigh, const SumValues& sum_values) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t head_at = head * args.head_stride;
    const HeadKeys keys = head_keys(args, head_at);
    const int8_t* values = args.values + head_at * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      float q_scale;
      quantize({args.q + row * args.q_stride + size_t{head} * args.d_head, args.q_row, &q_scale, args.d_head,
                args.d_head, 1, 1, args.d_head});
      weigh(args, row, keys, q_scale);
      float* out = args.out + row * args.out_stride + size_t{head} * args.d_head;
      for (uint32_t j = 0; j < args.d_head; j += 16) sum_values(args, row, values + j, out + j);
    }
  }
}

}  // namespace
}  // namespace goldcrest
