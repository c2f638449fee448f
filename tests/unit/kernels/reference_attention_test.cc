// SPDX-License-Identifier: Apache-2.0
// Compares the reference's attention with a naive one: int64 sums, keys looked up through the ancestor table one by
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
#include "recomputed.h"

namespace goldcrest {
namespace {

using test::quantized;
using test::QuantizedRow;
using test::random_floats;
using test::random_weights;
using test::Rng;
using test::strided_sum;

// A cache of keys and values [n_heads, cache_rows, d_head] and queries; key t of query row r is at row_of(t, r).
void check_attention(uint32_t n_keys, uint32_t d_head, bool beams, uint64_t seed) {
  Rng rng(seed);
  const uint32_t heads = 2, rows = 3, slots = beams ? 4 : 1, cache_rows = n_keys * slots + 2;
  const std::vector<float> q = random_floats(rng, size_t{rows} * heads * d_head, 2);
  const std::vector<int8_t> keys = random_weights(rng, size_t{heads} * cache_rows * d_head);
  const std::vector<int8_t> values = random_weights(rng, keys.size());
  std::vector<float> key_scales(heads * cache_rows), value_scales(heads * cache_rows);
  for (float& scale : key_scales) scale = 0.01f + 0.005f * rng.uniform();
  for (float& scale : value_scales) scale = 0.01f + 0.005f * rng.uniform();
  std::vector<uint8_t> ancestor(size_t{n_keys} * slots);
  for (uint8_t& slot : ancestor) slot = static_cast<uint8_t>(rng.below(slots));

  std::vector<float> out(q.size(), 99.0f), scratch(pad16(n_keys));
  std::vector<int8_t> query_row(d_head);
  AttentionArgs<int8_t> args = {};
  args.q = q.data();
  args.keys = keys.data();
  args.values = values.data();
  args.key_scales = key_scales.data();
  args.value_scales = value_scales.data();
  args.ancestor = beams ? ancestor.data() : nullptr;
  args.out = out.data();
  args.weights = scratch.data();
  args.q_row = query_row.data();
  args.q_stride = args.out_stride = size_t{heads} * d_head;
  args.head_stride = cache_rows;
  args.position_stride = slots;
  args.ancestor_stride = slots;
  args.rows = rows;
  args.n_keys = n_keys;
  args.n_heads = heads;
  args.d_head = d_head;
  args.scale = 0.3f;
  reference_attention(args);

  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t head = 0; head < heads; ++head) {
      const size_t at = (size_t{row} * heads + head) * d_head;
      const QuantizedRow query =
          quantized({q.begin() + static_cast<long>(at), q.begin() + static_cast<long>(at + d_head)});
      const auto cache_row = [&](uint32_t t) {
        return head * cache_rows + t * slots + (beams ? ancestor[t * slots + row] : 0u);
      };
      std::vector<float> weights;
      for (uint32_t t = 0; t < n_keys; ++t) {
        int64_t dot = 0;
        for (uint32_t j = 0; j < d_head; ++j) dot += int64_t{query.q[j]} * keys[size_t{cache_row(t)} * d_head + j];
        weights.push_back((static_cast<float>(dot) * (query.scale * key_scales[cache_row(t)])) * 0.3f);
      }
      const float largest = *std::max_element(weights.begin(), weights.end());
      for (float& weight : weights) weight = exp_float(weight - largest);
      const float inverse = 1.0f / strided_sum(weights);
      for (uint32_t t = 0; t < n_keys; ++t) weights[t] = (weights[t] * inverse) * value_scales[cache_row(t)];
      for (uint32_t j = 0; j < d_head; ++j) {
        float sum = 0;
        for (uint32_t t = 0; t < n_keys; ++t) {
          sum += weights[t] * static_cast<float>(values[size_t{cache_row(t)} * d_head + j]);
        }
        ASSERT_EQ(out[at + j], sum) << n_keys << " keys, row " << row << ", head " << head << ", " << j;
      }
    }
  }
}

TEST(Attention, OverASentence) {
  for (uint32_t n_keys = 1; n_keys <= 40; ++n_keys) check_attention(n_keys, 16, false, n_keys);
  check_attention(20, 64, false, 100);
}

TEST(Attention, ThroughTheAncestorTable) {
  for (uint32_t n_keys = 1; n_keys <= 40; ++n_keys) check_attention(n_keys, 32, true, n_keys);
}

}  // namespace
}  // namespace goldcrest
