// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/attention.h"
#include "layers/rotary.h"

namespace goldcrest {
void store_keys_values(const Pass& pass, const StackView& stack, const float* keys_values, const KvCache& cache) {
  const size_t width = stack.attention_width();
  for (uint32_t i = 0; i < pass.rows.count; ++i) {
    const float* key = keys_values + size_t{i} * 2 * width;
    operations(pass.runtime).store(pass.runtime, stack, {key, key + width, pass.rows.first + i}, cache);
  }
}

void attend_sentence(
    const Pass& pass, const AttentionRows& rows, const SentenceKeys& sentence, Range heads, uint32_t task) {
  AttentionCall call = {};
  call.query = rows.query + sentence.rows.first * rows.query_stride;
  call.out = rows.out + size_t{sentence.rows.first} * pass.stack.attention_width();
  call.query_stride = rows.query_stride;
  call.rows = sentence.rows.count;
  call.n_keys = sentence.n_keys;
  call.first_key = sentence.first_key;
  call.position_stride = rows.position_stride;
  call.to_next = sentence.to_next;
  call.ancestor = sentence.ancestor;
  call.ancestor_stride = rows.ancestor_stride;
  if (kHasLayers && rows.bias.table != 0) {
    call.bias = pass.runtime.tensor<float>(rows.bias.table) + (rows.bias.before - sentence.position);
    call.bias_stride = rows.bias.stride;
    call.bias_step = rows.bias_step;
  }
  call.heads = heads;
  call.weights = pass.attention_weights + task * pass.attention_weights_stride;
  call.query_row = pass.query_row + task * pass.query_row_stride;
  operations(pass.runtime).attend(pass.runtime, pass.stack, call, rows.cache);
}

void turn_heads(const Runtime& runtime, const StackView& stack, uint32_t position, uint32_t n, float* heads) {
  const RotaryView& rotary = stack.rotary;
  const float* const cosines = runtime.tensor<float>(rotary.table) + size_t{position} * 2 * rotary.half;
  const float* const sines = cosines + rotary.half;
  for (uint32_t head = 0; head < n; ++head) {
    float* const first = heads + size_t{head} * stack.d_head;
    float* const second = first + rotary.half;
    for (uint32_t c = 0; c < rotary.half; ++c) {
      const float a = first[c], b = second[c];
      first[c] = a * cosines[c] - b * sines[c];
      second[c] = b * cosines[c] + a * sines[c];
    }
  }
}
}  // namespace goldcrest
