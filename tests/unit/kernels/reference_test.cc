// SPDX-License-Identifier: Apache-2.0
// Compares the reference kernels with naive implementations of their contracts (kernels.h, FORMAT.md): row-major
// weights, int64 sums, recursion for the tree.
#include "kernels/reference/reference.h"
#include "kernels/reference/math.h"
#include "recomputed.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr float kPlusInfinity = std::numeric_limits<float>::infinity();
constexpr Layout kLayouts[] = {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16};

// FORMAT.md, section 5.
size_t byte_of(Layout layout, size_t n, size_t k, size_t columns) {
  switch (layout) {
    case Layout::kN16K4: return ((n / 16) * (columns / 4) + k / 4) * 64 + (n % 16) * 4 + k % 4;
    case Layout::kN4K16: return ((n / 4) * (columns / 16) + k / 16) * 64 + (n % 4) * 16 + k % 16;
    case Layout::kRowMajor: break;
  }
  return n * columns + k;
}

std::vector<int8_t> packed(const std::vector<int8_t>& weights, uint32_t n, uint32_t k, Layout layout) {
  std::vector<int8_t> bytes(weights.size());
  for (uint32_t row = 0; row < n; ++row)
    for (uint32_t column = 0; column < k; ++column)
      bytes[byte_of(layout, row, column, k)] = weights[size_t{row} * k + column];
  return bytes;
}

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
  EXPECT_EQ(scale_for(std::nextafter(high, kPlusInfinity)), 0.0f);
  EXPECT_EQ(scale_for(kPlusInfinity), 0.0f);
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

  LinearArgs<int8_t> args(const std::vector<int8_t>& bytes, Layout layout, float* y) const {
    return {x.data(), x_scale.data(), bytes.data(), w_scale.data(), bias.data(), nullptr, nullptr, y, n, rows, n, k,
        layout, Activation::kNone};
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

TEST(Linear, BothLayoutsEqualATripleLoop) {
  Rng rng(3);
  for (const Layout layout : {Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {1u, 2u, 3u, 7u}) {
      for (const uint32_t k : {16u, 48u, 272u}) {
        const LinearCase c(rng, rows, 64, k);
        const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, layout);
        std::vector<float> y(size_t{rows} * c.n);
        reference_linear(c.args(bytes, layout, y.data()));
        for (uint32_t row = 0; row < rows; ++row)
          for (uint32_t j = 0; j < c.n; ++j) ASSERT_EQ(y[row * c.n + j], c.expected(row, j)) << row << ", " << j;
      }
    }
  }
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu: return x > 0 ? x : 0;
    case Activation::kGelu: return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5)));
    case Activation::kGeluTanh: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu: return x / (1 + std::exp(-x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kNone: break;
  }
  return x;
}

TEST(Linear, ActivationThenResidual) {
  Rng rng(4);
  const LinearCase c(rng, 3, 32, 64);
  const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, Layout::kN16K4);
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
           Activation::kSilu, Activation::kTanh}) {
    const std::vector<float> residual = random_floats(rng, size_t{c.rows} * c.n, 1);
    std::vector<float> plain(residual.size()), added(residual.size()), in_place = residual;
    LinearArgs<int8_t> args = c.args(bytes, Layout::kN16K4, plain.data());
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
      for (uint32_t j = 0; j < n; ++j)
        ASSERT_EQ(y[j], static_cast<float>(w[token * n + j]) * (scale[token] * 3.5f) + position[j]);
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

TEST(OutputBlock, LogitsLargestAndSum) {
  Rng rng(7);
  const LinearCase c(rng, 3, 256, 32);
  const std::vector<int8_t> bytes = packed(c.w, c.n, c.k, Layout::kN16K4);
  for (const uint32_t count : {1u, 15u, 16u, 17u, 255u, 256u}) {
    std::vector<float> y(size_t{c.rows} * kOutputBlock), largest(c.rows * 2, 99.0f), sum(c.rows * 2, 99.0f);
    OutputBlockArgs<int8_t> args = {};
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

// A list and its numbers.
struct Listed {
  explicit Listed(uint32_t capacity) : values(capacity), tokens(capacity) {}

  // Lists x, whose tokens are `first`, first + 1 ...
  void add(const std::vector<float>& x, uint32_t first) {
    reference_list_largest({x.data(), nullptr, first, static_cast<uint32_t>(x.size()), list()});
  }
  LargestNumbers list() { return {values.data(), tokens.data(), &count, static_cast<uint32_t>(values.size())}; }
  std::vector<std::pair<float, int32_t>> all() const {
    std::vector<std::pair<float, int32_t>> numbers;
    for (uint32_t i = 0; i < count; ++i) numbers.emplace_back(values[i], tokens[i]);
    return numbers;
  }

  std::vector<float> values;
  std::vector<int32_t> tokens;
  uint32_t count = 0;
};

TEST(ListLargest, ListsNumbersInOrderWithTheirTokens) {
  using Numbers = std::vector<std::pair<float, int32_t>>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Listed listed(3);
  listed.add({nan, -kPlusInfinity}, 0);
  EXPECT_EQ(listed.all(), Numbers{}) << "neither is listed";
  listed.add({1, 2}, 2);
  EXPECT_EQ(listed.all(), (Numbers{{2, 3}, {1, 2}}));
  listed.add({2, nan, 3, 1}, 4);
  EXPECT_EQ(listed.all(), (Numbers{{3, 6}, {2, 3}, {2, 4}})) << "of equal numbers the smaller token is first";
  listed.add({2, 2.5f}, 8);
  EXPECT_EQ(listed.all(), (Numbers{{3, 6}, {2.5f, 9}, {2, 3}})) << "a number that equals the last does not enter";
  const std::vector<float> x = {4, 1};
  const std::vector<uint32_t> ids = {20, 30};
  reference_list_largest({x.data(), ids.data(), 0, 2, listed.list()});
  EXPECT_EQ(listed.all(), (Numbers{{4, 20}, {3, 6}, {2.5f, 9}}));
}

TEST(ListLargest, EqualsASort) {
  Rng rng(21);
  for (int i = 0; i < 2000; ++i) {
    Listed listed(1 + rng.below(20));
    std::vector<std::pair<float, int32_t>> sorted;
    for (uint32_t block = 0; block < 3; ++block) {
      std::vector<float> x(1 + rng.below(256));
      for (float& value : x) value = static_cast<float>(rng.below(50));  // many are equal
      const auto first = static_cast<uint32_t>(sorted.size());
      listed.add(x, first);
      for (size_t j = 0; j < x.size(); ++j) sorted.emplace_back(x[j], static_cast<int32_t>(first + j));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    sorted.resize(std::min(sorted.size(), listed.values.size()));
    ASSERT_EQ(listed.all(), sorted);
  }
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
}}  // namespace goldcrest::test
