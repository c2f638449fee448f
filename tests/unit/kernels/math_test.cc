// SPDX-License-Identifier: Apache-2.0
// Compares the elementary functions with the C library's in double: the errors that math.h states hold.
#include "kernels/reference/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace goldcrest {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// Every 1009th float of [low, high], both ends included.
std::vector<float> dense_floats(float low, float high) {
  // Returns the bits as an integer that ascends with the float.
  const auto ordinal = [](float x) {
    const auto bits = static_cast<int32_t>(float_bits(x));
    return bits < 0 ? INT32_MIN - bits : bits;
  };
  std::vector<float> values = {low, high};
  for (int64_t i = ordinal(low); i <= ordinal(high); i += 1009) {
    const auto at = static_cast<int32_t>(i);
    values.push_back(bits_float(static_cast<uint32_t>(at < 0 ? INT32_MIN - at : at)));
  }
  return values;
}

// Returns the largest |f(x) - expected(x)| over [low, high], divided by |expected(x)| if `relative` (unless that is 0).
template <typename F, typename Expected>
double largest_error(float low, float high, bool relative, F f, Expected expected) {
  double largest = 0;
  for (const float x : dense_floats(low, high)) {
    const double right = expected(double{x});
    const double error = std::fabs(double{f(x)} - right) / (relative && right != 0 ? std::fabs(right) : 1.0);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

TEST(RoundHalfEven, EqualsRint) {
  for (const float x : dense_floats(-300.0f, 300.0f)) ASSERT_EQ(round_half_even(x), std::rint(x)) << x;
  for (int i = -4000; i <= 4000; ++i) {
    const float half = static_cast<float>(i) * 0.5f;
    EXPECT_EQ(round_half_even(half), std::rint(half)) << half;
  }
}

// All mantissas for an even and an odd exponent, then every 1009th float.
TEST(Sqrt, ThePortableOneIsCorrectlyRounded) {
  for (uint32_t bits = float_bits(1.0f); bits <= float_bits(4.0f); ++bits) {
    const float x = bits_float(bits);
    ASSERT_EQ(sqrt_float_portable(x), std::sqrt(x)) << x;
  }
  for (const float x : dense_floats(0.0f, std::numeric_limits<float>::max())) {
    ASSERT_EQ(sqrt_float_portable(x), std::sqrt(x)) << x;
  }
  for (const float x : {-0.0f, 0x1p-149f, 0x1p-127f, kInfinity}) {
    EXPECT_EQ(float_bits(sqrt_float_portable(x)), float_bits(std::sqrt(x))) << x;
  }
  for (const float x : {kNan, -kNan, -1.0f, -0x1p-149f, -kInfinity}) EXPECT_TRUE(std::isnan(sqrt_float_portable(x)));
}

TEST(Exp, RelativeErrorIsBelow2e7) {
  EXPECT_LT(largest_error(-40.0f, 88.0f, true, exp_float, [](double x) { return std::exp(x); }), 2e-7);
}

TEST(Exp, IsExactAtTheEdges) {
  EXPECT_EQ(exp_float(0.0f), 1.0f);
  EXPECT_EQ(exp_float(-0.0f), 1.0f);
  EXPECT_GT(exp_float(-40.0f), 0.0f);
  EXPECT_EQ(float_bits(exp_float(std::nextafter(-40.0f, -41.0f))), 0u);
  for (const float x : {-41.0f, -1e30f, -kInfinity, kNan, -kNan}) EXPECT_EQ(float_bits(exp_float(x)), 0u) << x;
  for (const float x : {88.5f, 1e30f, kInfinity}) EXPECT_EQ(exp_float(x), exp_float(88.0f)) << x;
}

TEST(Exp, IsMonotonic) {
  float previous = 0;
  for (float x = -40.0f; x < 88.0f; x += 0.0137f) {
    const float y = exp_float(x);
    EXPECT_GE(y, previous) << x;
    previous = y;
  }
}

TEST(Log, RelativeErrorIsBelow3e7) {
  EXPECT_LT(largest_error(std::numeric_limits<float>::min(), std::numeric_limits<float>::max(), true, log_float,
                          [](double x) { return std::log(x); }),
            3e-7);
  EXPECT_EQ(log_float(1.0f), 0.0f);
}

// Small lengths and the usual exponents.
TEST(Pow, RelativeErrorGrowsWithTheLogarithm) {
  for (int base = 1; base <= 1024; ++base) {
    for (const float exponent : {-2.0f, -0.6f, 0.2f, 0.6f, 0.7f, 1.5f, 2.0f, 3.0f}) {
      const double expected = std::pow(base, double{exponent});
      const double bound = 2e-7 + 4e-7 * std::fabs(exponent * std::log(base));
      EXPECT_LE(std::fabs(pow_float(static_cast<float>(base), exponent) / expected - 1), bound)
          << base << "^" << exponent;
    }
    EXPECT_EQ(pow_float(static_cast<float>(base), 0.0f), 1.0f);
    EXPECT_EQ(pow_float(static_cast<float>(base), 1.0f), static_cast<float>(base));
  }
}

TEST(Sigmoid, Errors) {
  const auto expected = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(largest_error(-40.0f, 40.0f, true, sigmoid_float, expected), 4e-7);
  EXPECT_EQ(sigmoid_float(-kInfinity), 0.0f);
  EXPECT_EQ(sigmoid_float(kInfinity), 1.0f);
  EXPECT_EQ(sigmoid_float(0.0f), 0.5f);
}

TEST(Tanh, Errors) {
  EXPECT_LT(largest_error(-20.0f, 20.0f, false, tanh_float, [](double x) { return std::tanh(x); }), 2e-7);
  EXPECT_EQ(tanh_float(kInfinity), 1.0f);
  EXPECT_EQ(tanh_float(-kInfinity), -1.0f);
  EXPECT_EQ(tanh_float(0.0f), 0.0f);
}

TEST(Erf, Errors) {
  EXPECT_LT(largest_error(-8.0f, 8.0f, false, erf_float, [](double x) { return std::erf(x); }), 6e-7);
  EXPECT_EQ(erf_float(kInfinity), 1.0f);
  EXPECT_EQ(erf_float(-kInfinity), -1.0f);
}

// For any bits: no trap, no endless loop, and (under the sanitizers) no undefined conversion.
TEST(AllFunctions, AcceptAnyBits) {
  float sum = 0;
  uint32_t bits = 1;
  for (int i = 0; i < 1 << 16; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float x = bits_float(bits);
    for (const float y : {exp_float(x), log_float(x), sigmoid_float(x), tanh_float(x), erf_float(x)}) {
      if (std::isfinite(y)) sum += y > 0 ? 1.0f : 0.0f;
    }
    const float e = exp_float(x);
    EXPECT_TRUE(e >= 0 && e <= exp_float(88.0f));
  }
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace goldcrest
