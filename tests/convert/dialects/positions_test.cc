// SPDX-License-Identifier: Apache-2.0
// Compares exp, log, sin and cos with libm, and the sinusoid tables of every dialect with their formulas.
#include "dialects/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/deterministic_math.h"
#include "support/rng.h"

namespace goldcrest::converter {
namespace {

TEST(DeterministicMath, EqualsLibm) {
  test::Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    const double unit = static_cast<double>(rng.bits() >> 11) * 0x1p-53;
    const double angle = (2 * unit - 1) * (i % 2 ? 1e5 : 10);
    EXPECT_NEAR(exact_sin(angle), std::sin(angle), 1e-15) << angle;
    EXPECT_NEAR(exact_cos(angle), std::cos(angle), 1e-15) << angle;
    const double exponent = (2 * unit - 1) * (i % 2 ? 700 : 10);
    EXPECT_NEAR(exact_exp(exponent) / std::exp(exponent), 1, 2e-15) << exponent;
    const double base = 1 + unit * (i % 2 ? 1e9 : 3);
    EXPECT_NEAR(exact_log(base), std::log(base), 1e-15 * std::max(1.0, std::log(base))) << base;
  }
}

TEST(DeterministicMath, HasTheExactValues) {
  EXPECT_EQ(exact_sin(0), 0);
  EXPECT_EQ(exact_cos(0), 1);
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_log(1), 0);
}

struct Dialect {
  const char* name;
  Sinusoid sinusoid;
};

const Dialect kDialects[] = {
    {"Marian of Hugging Face, Pegasus", {false, false, 0, 10000}},
    {"Marian", {false, true, 0, 10000}},
    {"fairseq, M2M-100", {false, true, 2, 10000}},
    {"OpenNMT-tf", {false, true, 1, 10000}},
    {"OpenNMT-py, PyTorch's tutorial", {true, false, 0, 10000}},
    {"another base", {true, false, 0, 777}},
};

TEST(Positions, FollowTheirFormula) {
  constexpr uint32_t kRows = 200, kWidth = 12;
  for (const Dialect& dialect : kDialects) {
    const Sinusoid& sinusoid = dialect.sinusoid;
    const Matrix table = sinusoid_table(sinusoid, kRows, kWidth);
    ASSERT_EQ(table.values.size(), size_t{kRows} * kWidth);
    for (uint32_t p = 0; p < kRows; ++p) {
      for (uint32_t i = 0; i < kWidth / 2; ++i) {
        const double exponent = sinusoid.denominator_minus_two ? i / (0.5 * kWidth - 1.0) : 2.0 * i / kWidth;
        const double angle = (p + sinusoid.first) / std::pow(sinusoid.base, exponent);
        const float* row = table.row(p);
        EXPECT_NEAR(row[sinusoid.interleaved ? 2 * i : i], std::sin(angle), 1e-7) << dialect.name;
        EXPECT_NEAR(row[sinusoid.interleaved ? 2 * i + 1 : kWidth / 2 + i], std::cos(angle), 1e-7) << dialect.name;
      }
    }
  }
}

TEST(Positions, DialectsDiffer) {
  for (const Dialect& a : kDialects) {
    for (const Dialect& b : kDialects) {
      const float difference =
          largest_difference(sinusoid_table(a.sinusoid, 100, 64), sinusoid_table(b.sinusoid, 100, 64));
      EXPECT_EQ(difference > 0.05f, &a != &b) << a.name << " and " << b.name;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
