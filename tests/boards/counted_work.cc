// SPDX-License-Identifier: Apache-2.0
#include "counted_work.h"
#include <cstring>
#include "board_api.h"
#include "instruction_count.h"
#include "support/rng.h"

namespace goldcrest::test {
Operands operands;

void fill_operands() {
  Rng rng(1);
  for (int8_t& value : operands.w) value = rng.weight();
  for (int8_t& value : operands.q) value = rng.weight();
  for (float& value : operands.x) value = 4 * rng.uniform();
  for (float& value : operands.w_scale) value = 0.01f + 0.005f * rng.uniform();
  for (float& value : operands.bias) value = rng.uniform();
  for (float& value : operands.row_scale) value = 0.01f + 0.005f * rng.uniform();
  for (float& value : operands.cache_scales) value = 0.01f + 0.005f * rng.uniform();
}

LinearArgs<int8_t> linear_args(uint32_t rows, uint32_t n, uint32_t k, Layout layout) {
  return {.x = operands.q,
      .x_scale = operands.row_scale,
      .w = operands.w,
      .w_scale = operands.w_scale,
      .bias = operands.bias,
      .weight_sum = operands.weight_sum,
      .y = operands.y,
      .y_stride = n,
      .rows = rows,
      .n = n,
      .k = k,
      .layout = layout,
      .activation = Activation::kNone};
}

double linear_rate(const Kernels& table, uint32_t rows, uint32_t k, Layout layout) {
  const LinearArgs<int8_t> args = linear_args(rows, kOutputs, k, layout);
  const uint64_t found = instructions_of([&] { table.int8.linear(args); });
  return static_cast<double>(rows * kOutputs * k) / static_cast<double>(found);
}

int search_all(goldcrest_engine* engine, const CountedModel& model, uint32_t beam_size, uint32_t max_target_tokens,
    SearchCost* cost) {
  goldcrest_search search = {.beam_size = beam_size, .max_target_tokens = max_target_tokens, .length_penalty = 1.0f};
  int status = goldcrest_set_search(engine, &search);
  *cost = {};
  for (uint32_t i = 0; i < model.n_sources; ++i) {
    const uint64_t start = board_ticks();
    if (status >= 0) status = goldcrest_begin_text(engine, model.sources[i], std::strlen(model.sources[i]));
    for (; status >= 0 && status != GOLDCREST_DONE; ++cost->steps) status = goldcrest_step(engine, nullptr);
    cost->instructions += instructions_since(start);
    goldcrest_result result = {};
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
    if (status < 0) return status;
    cost->tokens += result.n_tokens;
  }
  return 0;
}
}  // namespace goldcrest::test
