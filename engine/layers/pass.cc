// SPDX-License-Identifier: Apache-2.0
#include "layers/pass.h"

#include "base/arithmetic.h"

namespace goldcrest {

PassRefs plan_pass(Plan& plan, const StackView& stack, const PassPlan& wanted) {
  const uint32_t width = stack.attention_width(), element_bytes = bytes_of(stack.weight_type);
  const uint32_t widest_block = larger(stack.d_model_padded, stack.d_ff_padded);
  PassRefs refs = {};
  refs.input_bytes = element_bytes * larger(widest_block, width);
  refs.widest_output = larger(widest_block, larger(3 * width, wanted.other_width));
  refs.attention_width = width;

  const auto add = [&](const char* name, const BufferSize& size) {
    return plan.add(name, wanted.phase, Region::kScratch, size);
  };
  const auto rows_of = [&](uint64_t bytes) { return BufferSize{0, bytes, {wanted.rows[0], wanted.rows[1], 0, 0}}; };
  refs.inputs = add("rows.inputs", rows_of(refs.input_bytes));
  if (stack.weight_type == WeightType::kInt8) refs.row_scales = add("rows.scales", rows_of(sizeof(float)));
  refs.wide = add("rows.wide", rows_of(sizeof(float) * uint64_t{refs.widest_output}));
  refs.mixed = add("rows.attention_out", rows_of(sizeof(float) * uint64_t{width}));
  refs.attention_weights =
      add("rows.attention_weights", {0, sizeof(float), {wanted.keys, GOLDCREST_FACTOR_THREADS, 0, 0}});
  refs.query_row = add("rows.query", {uint64_t{element_bytes} * stack.d_head, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
  return refs;
}

Pass make_pass(const Runtime& runtime, const StackView& stack, const PassRefs& refs, uint32_t first_row,
               const TaskRows& task_rows) {
  const size_t row = first_row;
  float* const scales = stack.weight_type == WeightType::kInt8 ? runtime.buffer<float>(refs.row_scales) + row : nullptr;
  return {runtime,
          stack,
          task_rows.rows,
          task_rows.n_tasks,
          {runtime.buffer<uint8_t>(refs.inputs) + row * refs.input_bytes, scales},
          runtime.buffer<float>(refs.wide) + row * refs.widest_output,
          runtime.buffer<float>(refs.mixed) + row * refs.attention_width,
          runtime.task_buffer<float>(refs.attention_weights, task_rows.task),
          runtime.task_buffer<uint8_t>(refs.query_row, task_rows.task),
          size_t{refs.attention_weights.task_stride} * size_t{kAlignment} / sizeof(float),
          size_t{refs.query_row.task_stride} * size_t{kAlignment}};
}

}  // namespace goldcrest
