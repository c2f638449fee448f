// SPDX-License-Identifier: Apache-2.0
// Quantization of rows: scales, rounding, padding by heads, and matrices that are refused.
#include "quantize/quantize.h"
#include "convert/support/section_bytes.h"
#include "quantize/pack_rows.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double quantize(const Matrix& matrix, QuantizedMatrix& quantized) {
  return quantize_rows(matrix, Placement::in_order(matrix.rows), Placement::in_order(matrix.columns), 0, quantized);
}

// Returns the message of the Error for `matrix`, or "no error".
std::string refusal(const Matrix& matrix) {
  QuantizedMatrix quantized(matrix.rows, matrix.columns);
  return test::error_of([&] { quantize(matrix, quantized); });
}

// FORMAT.md, section 4: candidate i of a row's scales.
float candidate(float amax, int i) { return amax / 127.0f * (1.0f - static_cast<float>(i) / 100.0f); }

// Squared error of the row at `scale`.
double noise(const float* row, uint32_t n, float scale) {
  double sum = 0;
  for (uint32_t c = 0; c < n; ++c) {
    const double q = std::clamp(std::nearbyint(row[c] / scale), -127.0f, 127.0f);
    sum += (row[c] - q * double{scale}) * (row[c] - q * double{scale});
  }
  return sum;
}

float largest_magnitude(const float* row, uint32_t n) {
  float amax = 0;
  for (uint32_t c = 0; c < n; ++c) amax = std::max(amax, std::fabs(row[c]));
  return amax;
}

// Values like those of trained weights: most are small and few are large.
Matrix peaked_matrix(uint64_t seed, uint32_t rows, uint32_t columns) {
  test::RandomFloats random(seed);
  Matrix matrix = random.matrix("peaked", rows, columns);
  for (float& value : matrix.values.edit()) value *= random.next() * random.next();
  return matrix;
}

TEST(Quantize, TiesGoToTheEvenNumber) {
  // The largest magnitude 127 makes the first candidate exactly 1. Any other candidate would clip three values, which
  // costs more than all ties together.
  const Matrix matrix = {"ties", 1, 11, {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 125.5f, 126.5f, 127, -127}};
  QuantizedMatrix quantized(1, 11);
  quantize(matrix, quantized);
  const std::vector<int8_t> expected = {127, 0, 2, 2, 0, -2, -2, 126, 126, 127, -127, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::vector<int8_t>(quantized.weights.begin(), quantized.weights.begin() + 16), expected);
  EXPECT_EQ(quantized.scale[0], 1.0f);
  EXPECT_EQ(quantized.weight_sum[0], 127 + 2 + 2 - 2 - 2 + 126 + 126);
}

TEST(Quantize, EveryRowReaches127AndOnlyWhatLiesBeyondIsClipped) {
  for (const uint32_t rows : {1u, 15u, 16u, 17u, 33u}) {
    for (const uint32_t columns : {1u, 15u, 16u, 17u, 63u}) {
      const Matrix matrix = peaked_matrix(1, rows, columns);
      QuantizedMatrix quantized(rows, columns);
      quantize(matrix, quantized);
      ASSERT_EQ(quantized.rows, pad16(rows));
      ASSERT_EQ(quantized.columns, pad16(columns));
      for (uint32_t r = 0; r < quantized.rows; ++r) {
        int32_t sum = 0, largest = 0;
        for (uint32_t c = 0; c < quantized.columns; ++c) {
          const auto q = int32_t{quantized.weights[size_t{r} * quantized.columns + c]};
          sum += q;
          largest = std::max(largest, std::abs(q));
          if (r >= rows || c >= columns) {
            ASSERT_EQ(q, 0);
          } else {
            ASSERT_TRUE(test::is_quantized(q, quantized.scale[r], matrix.row(r)[c])) << r << ", " << c;
          }
        }
        EXPECT_EQ(sum, quantized.weight_sum[r]);
        EXPECT_EQ(largest, r < rows ? 127 : 0);
        if (r >= rows) {
          EXPECT_EQ(quantized.scale[r], 1.0f);
        }
      }
    }
  }
}

TEST(Quantize, TheScaleIsTheCandidateOfLeastError) {
  for (const uint32_t columns : {64u, 128u, 515u}) {
    const Matrix matrix = peaked_matrix(columns, 64, columns);
    QuantizedMatrix quantized(64, columns);
    quantize(matrix, quantized);
    size_t n_clipped = 0;
    for (uint32_t r = 0; r < 64; ++r) {
      const float* row = matrix.row(r);
      const float amax = largest_magnitude(row, columns);
      int best = 0;
      for (int i = 1; i <= 20; ++i)
        if (noise(row, columns, candidate(amax, i)) < noise(row, columns, candidate(amax, best))) best = i;
      EXPECT_EQ(quantized.scale[r], candidate(amax, best)) << columns << " columns, row " << r;
      EXPECT_LE(noise(row, columns, quantized.scale[r]), noise(row, columns, amax / 127.0f));
      n_clipped += best > 0;
    }
    EXPECT_GT(n_clipped, 0u) << columns << " columns";
    EXPECT_LT(n_clipped, 64u) << columns << " columns";
  }
}

TEST(Quantize, ALoneLargeValueIsClippedByAFifthAtMost) {
  // There are enough small values that a still smaller scale would lose less.
  Matrix matrix = test::RandomFloats(8).matrix("wide", 1, 60000);
  for (float& value : matrix.values.edit()) value *= 0.5f;
  matrix.values.edit()[7] = 1;
  QuantizedMatrix quantized(1, 60000);
  quantize(matrix, quantized);
  EXPECT_EQ(quantized.scale[0], candidate(1, 20));
  EXPECT_EQ(quantized.weights[7], 127);
  EXPECT_LT(noise(matrix.row(0), 60000, candidate(1, 21)), noise(matrix.row(0), 60000, candidate(1, 20)));
}

TEST(Quantize, ARowThatFitsIsKeptExactly) {
  test::RandomFloats random(5);
  for (const float step : {1.0f, 0x1p-20f, 0.37f}) {
    Matrix matrix = {"exact", 1, 40, {127 * step}};
    while (matrix.values.size() < 40) matrix.values.edit().push_back(std::nearbyint(random.next() * 9) * step);
    QuantizedMatrix quantized(1, 40);
    quantize(matrix, quantized);
    EXPECT_EQ(quantized.scale[0], 127 * step / 127.0f);
    for (uint32_t c = 0; c < 40; ++c) EXPECT_EQ(quantized.weights[c], std::nearbyint(matrix.values[c] / step));
  }
}

TEST(Quantize, RowsBelowTheBoundAreZeroWithScaleOne) {
  const float below = std::nextafter(0x1p-40f, 0.0f);
  const Matrix matrix = {"small", 3, 2, {0, 0, below, -below, 0x1p-40f, -0x1p-41f}};
  QuantizedMatrix quantized(3, 2);
  quantize(matrix, quantized);
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(quantized.scale[r], 1.0f);
    EXPECT_EQ(quantized.weights[16 * r], 0);
  }
  EXPECT_EQ(quantized.weights[32], 127);
  EXPECT_EQ(quantized.weights[33], -64);  // -63.5, rounded to the even number
  EXPECT_GE(quantized.scale[2], 0x1p-47f);
}

TEST(Quantize, NoScaleFallsBelowTheFormatsBound) {
  // All values but one are exact at candidate 10, which the format does not allow here.
  test::RandomFloats random(6);
  const float step = candidate(0x1p-40f, 10);
  Matrix matrix = {"small", 1, 4096, {0x1p-40f}};
  while (matrix.values.size() < 4096) matrix.values.edit().push_back(std::nearbyint(random.next() * 100) * step);
  QuantizedMatrix quantized(1, 4096);
  quantize(matrix, quantized);
  EXPECT_EQ(quantized.scale[0], 0x1p-40f / 127.0f);
  // Values four times as large may have this candidate.
  for (float& value : matrix.values.edit()) value *= 4;
  quantize(matrix, quantized);
  EXPECT_EQ(quantized.scale[0], 4 * step);
}

TEST(Quantize, TheLargestRowAndOneBeyond) {
  QuantizedMatrix quantized(1, 1);
  quantize({"large", 1, 1, {-8323072.0f}}, quantized);
  EXPECT_EQ(quantized.scale[0], 0x1p16f);
  EXPECT_EQ(quantized.weights[0], -127);
  EXPECT_EQ(refusal({"large", 2, 1, {1, 8323073.0f}}),
      "tensor 'large': row 1 has a magnitude of 8323073; int8 rows go up to 127 * 2^16 = 8323072");
}

TEST(Quantize, ValuesThatAreNotFiniteAreNamed) {
  EXPECT_EQ(refusal({"bad", 2, 2, {0, 1, 2, kNan}}), "tensor 'bad': element [1, 1] is nan; expected a finite number");
  EXPECT_EQ(
      refusal({"bad", 2, 2, {0, kInfinity, 2, 3}}), "tensor 'bad': element [0, 1] is inf; expected a finite number");
  EXPECT_EQ(
      refusal({"bad", 2, 2, {-kInfinity, 1, 2, 3}}), "tensor 'bad': element [0, 0] is -inf; expected a finite number");
}

TEST(Quantize, HeadsArePaddedOneByOne) {
  test::RandomFloats random(2);
  const Matrix query = random.matrix("query", 6, 5), key = random.matrix("key", 6, 5), out = random.matrix("out", 5, 6);
  const Placement heads = Placement::per_head(2, 3), model = Placement::in_order(5);
  QuantizedMatrix fused(2 * heads.placed_size(), 5);
  quantize_rows(query, heads, model, 0, fused);
  quantize_rows(key, heads, model, 32, fused);
  ASSERT_EQ(fused.rows, 64u);
  // Rows 0..2 and 16..18 are the query's, rows 32..34 and 48..50 the key's.
  for (uint32_t r = 0; r < 64; ++r) {
    const Matrix& part = r < 32 ? query : key;
    if (r % 16 >= 3) {
      EXPECT_EQ(fused.scale[r], 1.0f);
      EXPECT_EQ(fused.weight_sum[r], 0);
      continue;
    }
    const float* row = part.row(r % 32 / 16 * 3 + r % 16);
    for (uint32_t c = 0; c < 5; ++c)
      EXPECT_TRUE(test::is_quantized(fused.weights[r * 16 + c], fused.scale[r], row[c])) << r << ", " << c;
  }

  QuantizedMatrix quantized_out(5, heads.placed_size());
  quantize_rows(out, model, heads, 0, quantized_out);
  ASSERT_EQ(quantized_out.columns, 32u);
  for (uint32_t c = 0; c < 32; ++c) {
    const float expected = c % 16 < 3 ? out.row(4)[c / 16 * 3 + c % 16] : 0.0f;
    EXPECT_TRUE(test::is_quantized(quantized_out.weights[4 * 32 + c], quantized_out.scale[4], expected)) << c;
  }
}

TEST(Quantize, SignalToNoiseRatio) {
  QuantizedMatrix quantized(1, 3);
  EXPECT_EQ(quantize({"exact", 1, 3, {127, -1, 64}}, quantized), std::numeric_limits<double>::infinity());
  // Signal 127^2 + 0.25, noise 0.25.
  EXPECT_NEAR(quantize({"half", 1, 2, {127, 0.5f}}, quantized), 10 * std::log10(127.0 * 127.0 / 0.25 + 1), 1e-9);
  // Clipping gains nothing for uniform weights: an error of step / sqrt(12) against a signal of 127 steps / sqrt(3) is
  // 48.1 dB.
  test::RandomFloats random(3);
  QuantizedMatrix large(64, 512);
  EXPECT_NEAR(quantize(random.matrix("uniform", 64, 512), large), 20 * std::log10(254), 0.1);
}

TEST(CopyFloats, BoundsAndFlushing) {
  const std::vector<float> values = {0x1p16f, -0x1p16f, 0x1p-60f, -0x1p-61f, -0.0f, 1.5f};
  std::vector<float> placed(32, 0.0f);
  copy_floats(values, Placement::per_head(2, 3), "bias", placed.data());
  const std::vector<float> first = {0x1p16f, -0x1p16f, 0x1p-60f, 0}, second = {0, 0, 1.5f, 0};
  EXPECT_EQ(std::vector<float>(placed.begin(), placed.begin() + 4), first);
  EXPECT_EQ(std::vector<float>(placed.begin() + 16, placed.begin() + 20), second);
  EXPECT_FALSE(std::signbit(placed[16]));
  EXPECT_FALSE(std::signbit(placed[17]));
  for (const float bad : {kNan, kInfinity, std::nextafter(0x1p16f, kInfinity)}) {
    const std::vector<float> pair = {0, bad};
    test::expect_error([&] { copy_floats(pair, Placement::in_order(2), "bias of tensor 'w'", placed.data()); },
        {"bias of tensor 'w': element 1 is "});
  }
}

// A checkpoint's own int8 keeps each row's integers and scale, even for zeros and for the smallest scale.
TEST(Quantize, AStoredGridIsKept) {
  const float scales[] = {0.0125f, 0x1p-47f, 3.0f};
  Matrix matrix{"w", 3, 3, {}, false, {scales, scales + 3}};
  const int8_t integers[] = {127, -127, 1, -5, 60, 126, 0, 0, 0};
  for (size_t i = 0; i < 9; ++i) matrix.values.edit().push_back(static_cast<float>(integers[i]) * scales[i / 3]);
  QuantizedMatrix quantized(3, 3);
  EXPECT_EQ(quantize(matrix, quantized), kInfinity);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(quantized.weights[i / 3 * 16 + i % 3], integers[i]) << i;
  for (size_t r = 0; r < 3; ++r) EXPECT_EQ(quantized.scale[r], scales[r]);
  EXPECT_EQ(quantized.weight_sum[1], 181);
  matrix.values.edit()[1] = 0.013f;
  EXPECT_EQ(refusal(matrix),
      "tensor 'w': element [0, 1] is 0.013; expected an integer of -127 to 127 times the stored scale 0.0125");
}

// Returns the squared error of the outputs. With known inputs no weight may be better one step away.
double fitted_error(const Matrix& matrix, std::span<const float> products, bool known, QuantizedMatrix& packed) {
  const uint32_t n = matrix.columns;
  packed.multipliers.assign(packed.rows * 3, 1);
  const std::span<const float> inputs = known ? products : std::span<const float>();
  RowPacker(inputs, Placement::in_order(n)).pack_rows(matrix, Placement::in_order(matrix.rows), 0, packed);
  double damping = 0, sum = 0;
  for (uint32_t a = 0; a < n; ++a) damping += 0.01 * double{products[a * n + a]} / n;
  for (uint32_t r = 0; r < matrix.rows; ++r) {
    std::vector<double> error;
    for (uint32_t c = 0; c < n; ++c)
      error.push_back(matrix.row(r)[c] - double{packed.scale[r]} * packed.weights[r * packed.columns + c]);
    for (uint32_t a = 0; a < n; ++a) {
      double slope = 0;
      for (uint32_t b = 0; b < n; ++b) slope += double{products[a * n + b]} * error[b];
      sum += slope * error[a];
      const int m = packed.multipliers[a / 32 * 16 + r], nibble = packed.weights[r * packed.columns + a] / m;
      const double step = std::fabs(m * double{packed.scale[r]}), square = double{products[a * n + a]} + damping;
      if (!known || nibble == -8 || nibble == 7) continue;
      EXPECT_LE(2 * std::fabs(slope + damping * error[a]), square * step * 1.001) << r << ' ' << a;
    }
  }
  return sum;
}

// Errors of weights whose inputs come together cancel in the products.
TEST(RowPacker, FitsTheInputsThatItSaw) {
  constexpr uint32_t kRows = 5, kColumns = 72;
  const Matrix matrix = peaked_matrix(3, kRows, kColumns);
  test::RandomFloats random(4);
  std::vector<float> products(kColumns * kColumns), x(kColumns);
  for (int i = 0; i < 300; ++i) {
    std::array<float, 8> common;
    for (float& value : common) value = random.next();
    for (uint32_t c = 0; c < kColumns; ++c)
      x[c] = random.next() + 3 * common[c % 8] * common[c % 8] + 2 * common[c * c % 7];
    for (uint32_t a = 0; a < kColumns; ++a)
      for (uint32_t b = 0; b < kColumns; ++b) products[a * kColumns + b] += x[a] * x[b];
  }
  QuantizedMatrix nearest(kRows, kColumns), fitted(kRows, kColumns);
  const double of_nearest = fitted_error(matrix, products, false, nearest);
  const double of_fitted = fitted_error(matrix, products, true, fitted);
  EXPECT_LT(of_fitted, 0.5 * of_nearest);
  // Weights that are on the grid stay.
  Matrix on_grid = {"grid", kRows, kColumns, std::vector<float>(kRows * kColumns)};
  for (uint32_t r = 0; r < kRows; ++r)
    for (uint32_t c = 0; c < kColumns; ++c)
      on_grid.values.edit()[r * kColumns + c] =
          fitted.scale[r] * static_cast<float>(fitted.weights[r * fitted.columns + c]);
  QuantizedMatrix kept(kRows, kColumns);
  kept.multipliers.assign(kept.rows * 3, 1);
  RowPacker(products, Placement::in_order(kColumns)).pack_rows(on_grid, Placement::in_order(kRows), 0, kept);
  for (uint32_t r = 0; r < kRows; ++r)
    for (uint32_t c = 0; c < kColumns; ++c) {
      const size_t at = r * kept.columns + c;
      EXPECT_NEAR(kept.scale[r] * static_cast<float>(kept.weights[at]), on_grid.row(r)[c],
          1e-6f * std::fabs(on_grid.row(r)[c]));
    }
  for (const Layout layout : {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16}) {
    const std::vector<uint8_t> bytes = pack_nibbles(fitted, layout);
    EXPECT_EQ(bytes.size(), packed_bytes(fitted.rows, fitted.columns));
    const QuantizedMatrix back = unpack_nibbles(bytes, fitted.rows, fitted.columns, layout);
    EXPECT_EQ(back.weights, fitted.weights);
    EXPECT_EQ(back.multipliers, fitted.multipliers);
  }
}
}}  // namespace goldcrest::converter
