// SPDX-License-Identifier: Apache-2.0
// The reference kernels of linear layers and of the logits that the last one gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
#include "unit/kernels/naive_kernels.h"

namespace goldcrest {
namespace {

using test::kLayouts;
using test::LinearCase;
using test::packed;
using test::random_floats;
using test::random_weights;
using test::Rng;
using test::strided_sum;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Linear, BothLayoutsEqualATripleLoop) {
  Rng rng(3);
  for (const Layout layout : {Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {1u, 2u, 3u, 7u}) {
      for (const uint32_t k : {16u, 48u, 272u}) {
        const LinearCase c(rng, rows, 64, k);
        const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, layout);
        std::vector<float> y(size_t{rows} * c.n);
        reference_linear(c.args(bytes, layout, y.data()));
        for (uint32_t row = 0; row < rows; ++row) {
          for (uint32_t j = 0; j < c.n; ++j) ASSERT_EQ(y[row * c.n + j], c.expected(row, j)) << row << ", " << j;
        }
      }
    }
  }
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kNone:
      break;
  }
  return x;
}

TEST(Linear, ActivationThenResidual) {
  Rng rng(4);
  const LinearCase c(rng, 3, 32, 64);
  const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, Layout::kN16K4);
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSilu}) {
    const std::vector<float> residual = random_floats(rng, size_t{c.rows} * c.n, 1);
    std::vector<float> plain(residual.size()), added(residual.size()), in_place = residual;
    LinearArgs args = c.args(bytes, Layout::kN16K4, plain.data());
    args.activation = activation;
    reference_linear(args);
    args.y = added.data();
    args.residual = residual.data();
    reference_linear(args);
    args.y = in_place.data();
    args.residual = in_place.data();
    reference_linear(args);
    for (uint32_t i = 0; i < plain.size(); ++i) {
      EXPECT_NEAR(plain[i], activated(activation, c.expected(i / c.n, i % c.n)), 2e-6);
      EXPECT_EQ(added[i], plain[i] + residual[i]);
    }
    EXPECT_EQ(in_place, added);
  }
}

TEST(OutputBlock, LogitsLargestAndSum) {
  Rng rng(7);
  const LinearCase c(rng, 3, 256, 32);
  const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, Layout::kN16K4);
  for (const uint32_t count : {1u, 15u, 16u, 17u, 255u, 256u}) {
    std::vector<float> y(size_t{c.rows} * kOutputBlock), largest(c.rows * 2, 99.0f), sum(c.rows * 2, 99.0f);
    OutputBlockArgs args = {};
    args.linear = c.args(bytes, Layout::kN16K4, y.data());
    args.linear.n = pad16(count);
    args.linear.y_stride = kOutputBlock;
    args.count = count;
    args.block_max = largest.data();
    args.block_sum = sum.data();
    args.stride = 2;
    reference_output_block(args);
    for (uint32_t row = 0; row < c.rows; ++row) {
      const std::vector<float> logits(y.begin() + row * kOutputBlock, y.begin() + row * kOutputBlock + count);
      for (uint32_t j = 0; j < count; ++j) ASSERT_EQ(logits[j], c.expected(row, j));
      EXPECT_EQ(largest[2 * row], *std::max_element(logits.begin(), logits.end()));
      std::vector<float> exponentials;
      for (const float logit : logits) exponentials.push_back(exp_float(logit - largest[2 * row]));
      EXPECT_EQ(sum[2 * row], strided_sum(exponentials)) << count;
      EXPECT_EQ(largest[2 * row + 1], 99.0f);
    }
  }
}

TEST(NextAbove, FindsTheFirstStrictlyAbove) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1, 2, 2, nan, 3, -kInfinity, 4};
  EXPECT_EQ(reference_next_above(x.data(), 0, 7, 2.0f), 4u);
  EXPECT_EQ(reference_next_above(x.data(), 5, 7, 2.0f), 6u);
  EXPECT_EQ(reference_next_above(x.data(), 0, 7, 4.0f), 7u);
  EXPECT_EQ(reference_next_above(x.data(), 0, 4, 2.0f), 4u) << "none: the end";
  EXPECT_EQ(reference_next_above(x.data(), 5, 6, -kInfinity), 6u) << "-infinity is never above";
  EXPECT_EQ(reference_next_above(x.data(), 3, 3, 0.0f), 3u);
}

TEST(WeightsValid, RefusesEveryMinus128AndEveryWrongSum) {
  Rng rng(8);
  const uint32_t n = 16, k = 32;
  const std::vector<int8_t> w = random_weights(rng, n * k);
  std::vector<int32_t> sums(n);
  for (uint32_t i = 0; i < n * k; ++i) sums[i / k] += w[i];
  for (const Layout layout : kLayouts) {
    std::vector<int8_t> bytes = packed(w, n, k, layout);
    EXPECT_TRUE(reference_weights_valid(bytes.data(), sums.data(), n, k, layout));
    EXPECT_TRUE(reference_weights_valid(bytes.data(), nullptr, n, k, layout));
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int8_t before = bytes[i];
      bytes[i] = -128;
      EXPECT_FALSE(reference_weights_valid(bytes.data(), nullptr, n, k, layout));
      bytes[i] = static_cast<int8_t>(before == 127 ? 126 : before + 1);
      EXPECT_FALSE(reference_weights_valid(bytes.data(), sums.data(), n, k, layout));
      bytes[i] = before;
    }
  }
}

}  // namespace
}  // namespace goldcrest
