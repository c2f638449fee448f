// SPDX-License-Identifier: Apache-2.0
// Int8 keys and values with a scale for each (row, head), or floats in float32 files: [layer][head][row][d_head], where
// a row is a source position or a (target position, slot) pair. Written once, never moved.
#pragma once

#include "layers/parallel.h"

namespace goldcrest {

struct KvCacheRefs {
  BufferRef keys, values, key_scales, value_scales;
};

// Names of the four buffers in the plan.
struct KvCacheNames {
  const char *keys, *values, *key_scales, *value_scales;
};

// Plans the cache of `n_layers` layers; the rows are the product of three factors.
KvCacheRefs plan_kv_cache(Plan& plan, const KvCacheNames& names, Phase phase, uint32_t n_layers, const StackView& stack,
                          uint8_t factor_a, uint8_t factor_b, uint8_t factor_c);

// One layer of a cache. Head h begins at row h * rows.
struct KvCache {
  int8_t* keys;         // [n_heads, rows, d_head]; floats in float32 files
  int8_t* values;       // likewise
  float* key_scales;    // [n_heads, rows]; none in float32 files
  float* value_scales;  // likewise
  size_t rows;
};

KvCache kv_cache_layer(const Runtime& runtime, const KvCacheRefs& refs, uint32_t layer, const StackView& stack,
                       size_t rows);

// Puts one row's keys and values, each [n_heads * d_head], into row `row` of the cache.
void store_key_value(const Runtime& runtime, const StackView& stack, const float* key, const float* value, size_t row,
                     const KvCache& cache);

// The same for a row of the cache for each of `rows`. keys_values: [rows.count, 2, n_heads * d_head].
void store_keys_values(const Runtime& runtime, const StackView& stack, const float* keys_values, Range rows,
                       const KvCache& cache);

}  // namespace goldcrest
