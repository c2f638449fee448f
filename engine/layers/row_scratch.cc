// SPDX-License-Identifier: Apache-2.0
#include "layers/row_scratch.h"

#include "base/compare.h"

namespace goldcrest {

RowScratchRefs plan_row_scratch(Plan& plan, Phase phase, const StackView& stack, uint32_t kv_width, uint8_t rows_factor,
                                uint8_t other_rows_factor, uint8_t keys_factor) {
  const uint32_t attention_width = stack.attention_width();
  const uint32_t input_bytes =
      stack.weight_bytes * larger(larger(stack.d_model_padded, stack.d_ff_padded), attention_width);
  const uint32_t widest_output =
      larger(larger(stack.d_model_padded, stack.d_ff_padded), larger(3 * attention_width, kv_width));
  const auto rows_of = [&](uint64_t bytes) { return BufferSize{0, bytes, {rows_factor, other_rows_factor, 0, 0}}; };
  const bool scaled = stack.weight_bytes == 1;
  RowScratchRefs refs = {};
  refs.inputs = plan.add("rows.inputs", phase, Region::kScratch, rows_of(input_bytes));
  if (scaled) refs.row_scales = plan.add("rows.scales", phase, Region::kScratch, rows_of(4));
  refs.wide = plan.add("rows.wide", phase, Region::kScratch, rows_of(4ull * widest_output));
  refs.attention_out = plan.add("rows.attention_out", phase, Region::kScratch, rows_of(4ull * attention_width));
  refs.attention_weights = plan.add("rows.attention_weights", phase, Region::kScratch,
                                    {0, 4, {keys_factor, GOLDCREST_FACTOR_THREADS, 0, 0}});
  refs.query_row = plan.add("rows.query", phase, Region::kScratch,
                            {stack.weight_bytes * stack.d_head, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
  refs.input_bytes = input_bytes;
  refs.widest_output = widest_output;
  refs.attention_width = attention_width;
  return refs;
}

RowScratch row_scratch(const Runtime& runtime, const RowScratchRefs& refs, uint32_t first_row, uint32_t task,
                       uint32_t n_tasks) {
  const size_t row = first_row;
  RowScratch scratch;
  scratch.inputs = runtime.buffer<int8_t>(refs.inputs) + row * refs.input_bytes;
  scratch.row_scales = runtime.buffer<float>(refs.row_scales) + row;
  scratch.wide = runtime.buffer<float>(refs.wide) + row * refs.widest_output;
  scratch.attention_out = runtime.buffer<float>(refs.attention_out) + row * refs.attention_width;
  scratch.attention_weights = runtime.task_buffer<float>(refs.attention_weights, task);
  scratch.query_row = runtime.task_buffer<int8_t>(refs.query_row, task);
  scratch.attention_weights_stride = size_t{refs.attention_weights.task_stride} * size_t{kAlignment} / sizeof(float);
  scratch.query_row_stride = size_t{refs.query_row.task_stride} * kAlignment;
  scratch.n_tasks = n_tasks;
  return scratch;
}

}  // namespace goldcrest
