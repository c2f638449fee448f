// SPDX-License-Identifier: Apache-2.0
// Caches of keys and values: int8 with a scale for each (row, head), or floats for float32 files. Their shape is
// [layer][head][row][d_head]; a row is a source position or a (target position, slot) pair. Rows never move.
#pragma once

#include "memory/plan.h"
#include "model/model_view.h"

namespace goldcrest {
struct KvCacheRefs {
  BufferRef keys, values, key_scales, value_scales;
};

struct KvCachePlan {
  const char *keys, *values, *key_scales, *value_scales;  // names of the buffers in the plan
  Phase phase;
  uint32_t n_layers;
  uint8_t rows[3];  // goldcrest_factor: the rows are their product
};

KvCacheRefs plan_kv_cache(Plan& plan, const StackView& stack, const KvCachePlan& wanted);

// One layer of a cache. Head h begins at row h * rows.
struct KvCache {
  void* keys;           // [n_heads, rows, d_head] int8 or float
  void* values;         // likewise
  float* key_scales;    // [n_heads, rows]; null for float
  float* value_scales;  // likewise
  size_t rows;
};

struct Runtime;

KvCache kv_cache_layer(
    const Runtime& runtime, const StackView& stack, const KvCacheRefs& refs, uint32_t layer, size_t rows);
}  // namespace goldcrest
