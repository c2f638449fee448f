// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/alignment.h"
#include "base/arithmetic.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
uint32_t count_kept_before(uint32_t layers, uint32_t layer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < layer; ++i) n += layers >> i & 1;
  return n;
}

// The operations of one element type, in the same order as in the attention of kernels/reference/.
struct Int8Rows {
  using Element = int8_t;
  static constexpr uint32_t kNumbers = 1;
  static auto quantize_rows(const Runtime& runtime) { return runtime.kernels->int8.quantize_rows; }
  // Products of 16 and 8 bits are the shortest code, so the first numbers of a query are widened.
  struct Query {
    int16_t first[128];
    const int8_t* all;
    Query(const int8_t* a, uint32_t n) : all(a) {
      for (uint32_t i = 0; i < smaller<uint32_t>(n, 128); ++i) first[i] = a[i];
    }
  };
  static Query query(const int8_t* a, uint32_t n) { return {a, n}; }
  static float product(const Query& a, const int8_t* b, uint32_t n) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < smaller<uint32_t>(n, 128); ++i) sum += a.first[i] * b[i];
    for (uint32_t i = 128; i < n; ++i) sum += a.all[i] * b[i];
    return static_cast<float>(sum);
  }
};

struct Float32Rows {
  using Element = float;
  static constexpr uint32_t kNumbers = 1;
  static auto quantize_rows(const Runtime& runtime) { return runtime.kernels->float32->quantize_rows; }
  static const float* query(const float* a, uint32_t) { return a; }
  static float product(const float* a, const float* b, uint32_t n) {
    float lanes[16] = {};
    for (uint32_t i = 0; i < n; ++i) lanes[i % 16] += a[i] * b[i];
    return reference_sum_lanes(lanes);
  }
};

struct FineRows {
  using Element = int8_t;
  static constexpr uint32_t kNumbers = 2;  // numbers in an element
  static auto quantize_rows(const Runtime& runtime) { return runtime.kernels->quantize_fine; }
  static const int8_t* query(const int8_t* a, uint32_t) { return a; }
  static float product(const int8_t* a, const int8_t* b, uint32_t n) { return reference_fine_product(a, b, n); }
};

template <typename Rows> void keep(const Pass& pass, const float* query, size_t row, const KvCache& queries) {
  const uint32_t d_head = pass.stack.d_head;
  const size_t row_elements = size_t{Rows::kNumbers} * d_head;
  auto* const elements = static_cast<typename Rows::Element*>(queries.keys) + row * row_elements;
  float* const scales = queries.key_scales != nullptr ? queries.key_scales + row : nullptr;
  Rows::quantize_rows(pass.runtime)(
      {query, elements, scales, d_head, queries.rows * row_elements, queries.rows, pass.stack.n_heads, d_head});
}

// reference_exponentials as compilers make vectors of it, without traps (CMakeLists.txt).
float exponentials(float* x, uint32_t n, float largest) {
  float lanes[16] = {};
  for (uint32_t t = 0; t < n; ++t) x[t] = exp_float(x[t] - largest);
  for (uint32_t t = 0; t < n; ++t) lanes[t % 16] += x[t];
  return 1.0f / reference_sum_lanes(lanes);
}

template <typename Rows> void align(const StackView& stack, const AlignedHead& aligned, float* weights) {
  const uint32_t d_head = stack.d_head, n = aligned.key_rows.count;
  const auto row_of = [&](const KvCache& cache, size_t row) {
    const auto* const elements = static_cast<const typename Rows::Element*>(cache.keys);
    return elements + (aligned.head * cache.rows + row) * Rows::kNumbers * d_head;
  };
  const auto scale_of = [&](const KvCache& cache, size_t row) {
    return cache.key_scales[aligned.head * cache.rows + row];
  };
  const auto query = Rows::query(row_of(aligned.queries, aligned.query_row), d_head);
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < n; ++t) {
    const size_t key = aligned.key_rows.first + t;
    float score = Rows::product(query, row_of(aligned.keys, key), d_head);
    if (sizeof(typename Rows::Element) == 1)
      score = score * (scale_of(aligned.queries, aligned.query_row) * scale_of(aligned.keys, key));
    weights[t] = score * stack.attention_scale;
    if (weights[t] > largest) largest = weights[t];
  }
  const float inverse = exponentials(weights, n, largest);
  for (uint32_t t = 0; t < n; ++t) weights[t] = weights[t] * inverse;
}
}  // namespace

AlignmentRefs plan_alignment(Plan& plan, const StackView& stack) {
  const uint32_t layers = plan.limits().alignment_layers;
  AlignmentRefs refs = {};
  if (!kHasInspection || layers == 0) return refs;
  const uint64_t n_kept = count_kept_before(layers, 32);
  const auto add = [&](const char* name, uint64_t row_bytes) {
    return plan.add(name, Phase::kDecode, Region::kMain,
        {0, n_kept * row_bytes, {GOLDCREST_FACTOR_TARGET_TOKENS, GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0}});
  };
  refs.queries = add("alignment.queries", uint64_t{bytes_of(stack.cache_type)} * stack.attention_width());
  if (stack.cache_type != CacheType::kFloat32)
    refs.query_scales = add("alignment.query_scales", sizeof(float) * stack.n_heads);
  return refs;
}

KvCache recorded_queries(const Runtime& runtime, const AlignmentRefs& refs, uint32_t layer, size_t rows) {
  const KvCacheRefs queries = {refs.queries, refs.queries, refs.query_scales, refs.query_scales};
  return kv_cache_layer(
      runtime, runtime.model.decoder, queries, count_kept_before(runtime.limits.alignment_layers, layer), rows);
}

void record_query(const Pass& pass, const float* query, size_t row, const KvCache& queries) {
  if (pass.stack.has_fine_attention()) return keep<FineRows>(pass, query, row, queries);
  if (pass.stack.has_float32_cache()) return keep<Float32Rows>(pass, query, row, queries);
  keep<Int8Rows>(pass, query, row, queries);
}

void align_head(const Runtime& runtime, const AlignedHead& aligned, float* weights) {
  const StackView& stack = runtime.model.decoder;
  if (stack.has_fine_attention()) return align<FineRows>(stack, aligned, weights);
  if (stack.has_float32_cache()) return align<Float32Rows>(stack, aligned, weights);
  align<Int8Rows>(stack, aligned, weights);
}
}  // namespace goldcrest
