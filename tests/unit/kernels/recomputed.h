// SPDX-License-Identifier: Apache-2.0
// Second implementations for the tests of the reference kernels: the tree by recursion, rounding by the C library.
#pragma once

#include <array>
#include <cmath>
#include <vector>
#include "support/rng.h"

namespace goldcrest::test {
inline std::vector<int8_t> random_weights(Rng& rng, size_t n) {
  std::vector<int8_t> weights(n);
  for (int8_t& weight : weights) weight = rng.weight();
  return weights;
}

inline std::vector<float> random_floats(Rng& rng, size_t n, float scale) {
  std::vector<float> values(n);
  for (float& value : values) value = scale * rng.uniform();
  return values;
}

// Adds the partial sums i, i + stride, i + 2 stride, ... in a tree.
inline float tree(const std::array<float, 16>& lanes, size_t i, size_t stride) {
  return stride == 16 ? lanes[i] : tree(lanes, i, 2 * stride) + tree(lanes, i + stride, 2 * stride);
}

inline float strided_sum(const std::vector<float>& values) {
  std::array<float, 16> lanes = {};
  for (size_t lane = 0; lane < 16; ++lane)
    for (size_t i = lane; i < values.size(); i += 16) lanes[lane] += values[i];
  return tree(lanes, 0, 1);
}

struct QuantizedRow {
  std::vector<int8_t> q;
  float scale;
};

inline QuantizedRow quantized(const std::vector<float>& x) {
  QuantizedRow row = {std::vector<int8_t>(x.size()), 0.0f};
  float amax = 0;
  for (const float value : x) {
    if (!std::isfinite(value)) return row;
    amax = std::fmax(amax, std::fabs(value));
  }
  if (amax < std::ldexp(1.0f, -40) || amax > std::ldexp(1.0f, 56)) return row;
  const float inverse = 127.0f / amax;
  for (size_t i = 0; i < x.size(); ++i)
    row.q[i] = static_cast<int8_t>(std::fmin(127.0f, std::fmax(-127.0f, std::nearbyint(x[i] * inverse))));
  row.scale = amax / 127.0f;
  return row;
}
}  // namespace goldcrest::test
