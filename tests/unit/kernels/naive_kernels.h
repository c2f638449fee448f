// SPDX-License-Identifier: Apache-2.0
// What the tests of the reference kernels share: naive re-computations of their contracts (kernels.h, FORMAT.md) in
// other words, with row-major weights, int64 sums, recursion for the tree.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "support/rng.h"

namespace goldcrest::test {

constexpr Layout kLayouts[] = {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16};

// FORMAT.md, section 5.
inline size_t byte_of(Layout layout, size_t n, size_t k, size_t columns) {
  switch (layout) {
    case Layout::kN16K4:
      return ((n / 16) * (columns / 4) + k / 4) * 64 + (n % 16) * 4 + k % 4;
    case Layout::kN4K16:
      return ((n / 4) * (columns / 16) + k / 16) * 64 + (n % 4) * 16 + k % 16;
    case Layout::kRowMajor:
      break;
  }
  return n * columns + k;
}

inline std::vector<int8_t> packed(const std::vector<int8_t>& weights, uint32_t n, uint32_t k, Layout layout) {
  std::vector<int8_t> bytes(weights.size());
  for (uint32_t row = 0; row < n; ++row) {
    for (uint32_t column = 0; column < k; ++column) {
      bytes[byte_of(layout, row, column, k)] = weights[size_t{row} * k + column];
    }
  }
  return bytes;
}

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

// The tree over partial sums i, i + stride, i + 2 stride, ...
inline float tree(const std::array<float, 16>& lanes, size_t i, size_t stride) {
  return stride == 16 ? lanes[i] : tree(lanes, i, 2 * stride) + tree(lanes, i + stride, 2 * stride);
}

inline float strided_sum(const std::vector<float>& values) {
  std::array<float, 16> lanes = {};
  for (size_t lane = 0; lane < 16; ++lane) {
    for (size_t i = lane; i < values.size(); i += 16) lanes[lane] += values[i];
  }
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
  for (size_t i = 0; i < x.size(); ++i) {
    row.q[i] = static_cast<int8_t>(std::fmin(127.0f, std::fmax(-127.0f, std::nearbyint(x[i] * inverse))));
  }
  row.scale = amax / 127.0f;
  return row;
}

// Weights, scales and inputs of a linear layer, row-major.
struct LinearCase {
  LinearCase(Rng& rng, uint32_t rows_in, uint32_t n_in, uint32_t k_in)
      : rows(rows_in),
        n(n_in),
        k(k_in),
        x(random_weights(rng, size_t{rows} * k)),
        w(random_weights(rng, size_t{n} * k)),
        x_scale(random_floats(rng, rows, 0.01f)),
        w_scale(random_floats(rng, n, 0.01f)),
        bias(random_floats(rng, n, 1)) {}

  LinearArgs args(const std::vector<int8_t>& bytes, Layout layout, float* y) const {
    LinearArgs args = {};
    args.x = x.data();
    args.x_scale = x_scale.data();
    args.w = bytes.data();
    args.w_scale = w_scale.data();
    args.bias = bias.data();
    args.y = y;
    args.y_stride = n;
    args.rows = rows;
    args.n = n;
    args.k = k;
    args.layout = layout;
    args.activation = Activation::kNone;
    return args;
  }

  float expected(uint32_t row, uint32_t output) const {
    int64_t sum = 0;
    for (uint32_t i = 0; i < k; ++i) sum += int64_t{x[size_t{row} * k + i]} * w[size_t{output} * k + i];
    return static_cast<float>(sum) * (x_scale[row] * w_scale[output]) + bias[output];
  }

  uint32_t rows, n, k;
  std::vector<int8_t> x, w;
  std::vector<float> x_scale, w_scale, bias;
};

}  // namespace goldcrest::test
