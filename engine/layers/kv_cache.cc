// SPDX-License-Identifier: Apache-2.0
#include "layers/kv_cache.h"

#include "layers/float32.h"

namespace goldcrest {

KvCacheRefs plan_kv_cache(Plan& plan, const KvCacheNames& names, Phase phase, uint32_t n_layers, const StackView& stack,
                          uint8_t factor_a, uint8_t factor_b, uint8_t factor_c) {
  const uint64_t row_bytes = uint64_t{stack.weight_bytes} * stack.attention_width();
  const BufferSize elements = {0, n_layers * row_bytes, {factor_a, factor_b, factor_c, 0}};
  const BufferSize scales = {0, uint64_t{n_layers} * stack.n_heads * 4, {factor_a, factor_b, factor_c, 0}};
  KvCacheRefs refs = {};
  refs.keys = plan.add(names.keys, phase, Region::kMain, elements);
  refs.values = plan.add(names.values, phase, Region::kMain, elements);
  if (stack.weight_bytes != 1) return refs;
  refs.key_scales = plan.add(names.key_scales, phase, Region::kMain, scales);
  refs.value_scales = plan.add(names.value_scales, phase, Region::kMain, scales);
  return refs;
}

KvCache kv_cache_layer(const Runtime& runtime, const KvCacheRefs& refs, uint32_t layer, const StackView& stack,
                       size_t rows) {
  const size_t first_scale = size_t{layer} * stack.n_heads * rows;
  const size_t first_byte = first_scale * stack.d_head * stack.weight_bytes;
  return {runtime.buffer<int8_t>(refs.keys) + first_byte, runtime.buffer<int8_t>(refs.values) + first_byte,
          runtime.buffer<float>(refs.key_scales) + first_scale, runtime.buffer<float>(refs.value_scales) + first_scale,
          rows};
}

void store_key_value(const Runtime& runtime, const StackView& stack, const float* key, const float* value, size_t row,
                     const KvCache& cache) {
  if (runs_float32(runtime)) return store_key_value_float(runtime, stack, key, value, row, cache);
  const uint32_t d_head = stack.d_head;
  runtime.kernels->int8.quantize_rows({key, cache.keys + row * d_head, cache.key_scales + row, d_head,
                                       cache.rows * d_head, cache.rows, stack.n_heads, d_head});
  runtime.kernels->int8.quantize_rows({value, cache.values + row * d_head, cache.value_scales + row, d_head,
                                       cache.rows * d_head, cache.rows, stack.n_heads, d_head});
}

void store_keys_values(const Runtime& runtime, const StackView& stack, const float* keys_values, Range rows,
                       const KvCache& cache) {
  const uint32_t width = stack.attention_width();
  for (uint32_t i = 0; i < rows.count; ++i) {
    const float* key = keys_values + size_t{i} * 2 * width;
    store_key_value(runtime, stack, key, key + width, rows.first + i, cache);
  }
}

}  // namespace goldcrest
