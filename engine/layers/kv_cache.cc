// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/kv_cache.h"
#include "layers/runtime.h"

namespace goldcrest {
KvCacheRefs plan_kv_cache(Plan& plan, const StackView& stack, const KvCachePlan& wanted) {
  const auto add = [&](const char* name, uint64_t row_bytes) {
    return plan.add(name, wanted.phase, Region::kMain,
        {0, wanted.n_layers * row_bytes, {wanted.rows[0], wanted.rows[1], wanted.rows[2], 0}});
  };
  const uint64_t element_bytes = uint64_t{bytes_of(stack.cache_type)} * stack.attention_width();
  KvCacheRefs refs = {};
  refs.keys = add(wanted.keys, element_bytes);
  refs.values = add(wanted.values, element_bytes);
  if (stack.has_float32_cache()) return refs;
  refs.key_scales = add(wanted.key_scales, sizeof(float) * stack.n_heads);
  refs.value_scales = add(wanted.value_scales, sizeof(float) * stack.n_heads);
  return refs;
}

KvCache kv_cache_layer(
    const Runtime& runtime, const StackView& stack, const KvCacheRefs& refs, uint32_t layer, size_t rows) {
  const size_t first_scale = size_t{layer} * stack.n_heads * rows;
  const size_t first_byte = first_scale * stack.d_head * bytes_of(stack.cache_type);
  KvCache cache = {runtime.buffer<uint8_t>(refs.keys) + first_byte, runtime.buffer<uint8_t>(refs.values) + first_byte,
      nullptr, nullptr, rows};
  if (stack.has_float32_cache()) return cache;
  cache.key_scales = runtime.buffer<float>(refs.key_scales) + first_scale;
  cache.value_scales = runtime.buffer<float>(refs.value_scales) + first_scale;
  return cache;
}
}  // namespace goldcrest
