// SPDX-License-Identifier: Apache-2.0
#include "layers/attention.h"

namespace goldcrest {

void store_keys_values(const Pass& pass, const StackView& stack, const float* keys_values, const KvCache& cache) {
  const size_t width = stack.attention_width();
  for (uint32_t i = 0; i < pass.rows.count; ++i) {
    const float* key = keys_values + size_t{i} * 2 * width;
    operations(pass.runtime).store(pass.runtime, stack, {key, key + width, pass.rows.first + i}, cache);
  }
}

}  // namespace goldcrest
