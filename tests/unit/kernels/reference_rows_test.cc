// SPDX-License-Identifier: Apache-2.0
// The reference kernels of single rows: quantization, embedding, layer norm.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/reference.h"
#include "unit/kernels/naive_kernels.h"

namespace goldcrest {
namespace {

using test::kLayouts;
using test::packed;
using test::quantized;
using test::QuantizedRow;
using test::random_floats;
using test::random_weights;
using test::Rng;
using test::strided_sum;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

QuantizedRow kernel_quantized(const std::vector<float>& x) {
  QuantizedRow row = {std::vector<int8_t>(x.size(), 99), -1.0f};
  const auto n = static_cast<uint32_t>(x.size());
  reference_quantize_rows({x.data(), row.q.data(), &row.scale, n, n, 1, 1, n});
  return row;
}

TEST(QuantizeRows, RandomRowsOfAllMagnitudes) {
  Rng rng(1);
  for (int exponent = -45; exponent <= 60; ++exponent) {
    const std::vector<float> x = random_floats(rng, 16 * (1 + rng.below(5)), std::ldexp(1.0f, exponent));
    const QuantizedRow found = kernel_quantized(x), expected = quantized(x);
    EXPECT_EQ(found.q, expected.q) << exponent;
    EXPECT_EQ(found.scale, expected.scale) << exponent;
  }
}

TEST(QuantizeRows, TiesGoToEven) {
  std::vector<float> x(16);
  for (size_t i = 0; i < 15; ++i) x[i] = static_cast<float>(i) - 7.5f;
  x[15] = -127.0f;
  EXPECT_EQ(kernel_quantized(x).q, (std::vector<int8_t>{-8, -6, -6, -4, -4, -2, -2, 0, 0, 2, 2, 4, 4, 6, 6, -127}));
  EXPECT_EQ(kernel_quantized(x).scale, 1.0f);
}

TEST(QuantizeRows, BoundsOfTheLargestMagnitude) {
  const float low = std::ldexp(1.0f, -40), high = std::ldexp(1.0f, 56);
  const auto scale_for = [](float largest) {
    std::vector<float> x(32);
    x[17] = -largest;
    const QuantizedRow row = kernel_quantized(x);
    EXPECT_EQ(row.q[17], row.scale == 0 ? 0 : -127);
    return row.scale;
  };
  EXPECT_EQ(scale_for(low), low / 127.0f);
  EXPECT_EQ(scale_for(std::nextafter(low, 0.0f)), 0.0f);
  EXPECT_EQ(scale_for(high), high / 127.0f);
  EXPECT_EQ(scale_for(std::nextafter(high, kInfinity)), 0.0f);
  EXPECT_EQ(scale_for(kInfinity), 0.0f);
  EXPECT_EQ(scale_for(std::numeric_limits<float>::quiet_NaN()), 0.0f);
  EXPECT_EQ(scale_for(0.0f), 0.0f);
  EXPECT_EQ(scale_for(1e-42f), 0.0f);
}

TEST(QuantizeRows, StridesSeparateRowsAndScales) {
  Rng rng(2);
  const std::vector<float> x = random_floats(rng, 3 * 40, 1);
  std::vector<int8_t> q(3 * 50, 99);
  std::vector<float> scale(3 * 4, -1.0f);
  reference_quantize_rows({x.data(), q.data(), scale.data(), 40, 50, 4, 3, 32});
  for (size_t row = 0; row < 3; ++row) {
    const QuantizedRow expected =
        quantized({x.begin() + static_cast<long>(row) * 40, x.begin() + static_cast<long>(row) * 40 + 32});
    for (size_t i = 0; i < 50; ++i) EXPECT_EQ(q[row * 50 + i], i < 32 ? expected.q[i] : 99);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(scale[row * 4 + i], i == 0 ? expected.scale : -1.0f);
  }
}

TEST(Embed, EveryLayoutGivesTheRow) {
  Rng rng(5);
  const uint32_t rows = 48, n = 80;
  const std::vector<int8_t> w = random_weights(rng, rows * n);
  const std::vector<float> scale = random_floats(rng, rows, 1), position = random_floats(rng, n, 1);
  for (const Layout layout : kLayouts) {
    const std::vector<int8_t> bytes = packed(w, rows, n, layout);
    for (uint32_t token = 0; token < rows; ++token) {
      std::vector<float> y(n);
      reference_embed({bytes.data(), scale.data(), position.data(), y.data(), token, n, 3.5f, layout});
      for (uint32_t j = 0; j < n; ++j) {
        ASSERT_EQ(y[j], static_cast<float>(w[token * n + j]) * (scale[token] * 3.5f) + position[j]);
      }
    }
  }
}

TEST(LayerNorm, TwoPassesOfStridedSums) {
  Rng rng(6);
  for (uint32_t n = 1; n <= 70; ++n) {
    const uint32_t padded = pad16(n), rows = 2;
    const std::vector<float> gamma = random_floats(rng, padded, 2), beta = random_floats(rng, padded, 1);
    std::vector<float> x = random_floats(rng, rows * padded, 5), y(x.size(), 99.0f);
    reference_layer_norm({x.data(), y.data(), gamma.data(), beta.data(), padded, rows, n, padded, 1e-5f});
    for (uint32_t row = 0; row < rows; ++row) {
      std::vector<float> values(x.begin() + row * padded, x.begin() + row * padded + n);
      const float mean = strided_sum(values) * (1.0f / static_cast<float>(n));
      std::vector<float> squares;
      for (const float value : values) squares.push_back((value - mean) * (value - mean));
      const float inverse = 1.0f / std::sqrt(strided_sum(squares) * (1.0f / static_cast<float>(n)) + 1e-5f);
      for (uint32_t i = 0; i < padded; ++i) {
        const float expected = i < n ? ((values[i] - mean) * inverse) * gamma[i] + beta[i] : 0.0f;
        ASSERT_EQ(y[row * padded + i], expected) << n << ", " << i;
      }
    }
    reference_layer_norm({x.data(), x.data(), gamma.data(), beta.data(), padded, rows, n, padded, 1e-5f});
    EXPECT_EQ(x, y) << "in place";
  }
}

}  // namespace
}  // namespace goldcrest
