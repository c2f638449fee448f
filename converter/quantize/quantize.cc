// SPDX-License-Identifier: Apache-2.0
// The file's numbers are computed only with operations that IEEE 754 rounds exactly once, so every machine writes the
// same file.
#include "quantize/quantize.h"
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include "host/printable.h"
#include "host/wording.h"
#include "quantize/pack_rows.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
static_assert(FLT_EVAL_METHOD == 0, "float operations must round to float: the file's bytes depend on it");

constexpr float kSmallestScale = 0x1p-47f;
constexpr float kLargestScale = 0x1p16f;
constexpr float kSmallestFloat = 0x1p-60f;  // a bias, gamma, beta or position below it is 0
constexpr float kLargestFloat = 0x1p16f;

// Signal and noise energy of one or more rows.
struct Energy {
  double signal = 0, noise = 0;
};

long quantize_value(float value, float scale) {
  return std::clamp(std::lrint(value / scale), -127l, 127l);  // half to even, the default rounding mode
}

// Returns the squared error of a row of n values at `scale`. It uses eight sums, which a compiler can keep in
// registers.
double noise_at(const float* row, uint32_t n, float scale) {
  constexpr uint32_t kLanes = 8;
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer, half to even
  double lanes[kLanes] = {};
  const auto add = [&](uint32_t c, uint32_t lane) {
    const float rounded = (row[c] / scale + kNoFraction) - kNoFraction;
    const float q = std::clamp(rounded, -127.0f, 127.0f);
    const double error = double{row[c]} - double{q} * double{scale};
    lanes[lane] += error * error;
  };
  uint32_t c = 0;
  for (; c + kLanes <= n; c += kLanes)
    for (uint32_t lane = 0; lane < kLanes; ++lane) add(c + lane, lane);
  for (; c < n; ++c) add(c, c % kLanes);
  double noise = 0;
  for (double lane : lanes) noise += lane;
  return noise;
}

// Returns the scale of least squared error among amax / 127 and somewhat smaller scales, which clip the largest values.
float best_scale(const float* row, uint32_t n, float amax) {
  constexpr int kSteps = 20;
  float best = amax / 127.0f;
  double least = noise_at(row, n, best);
  for (int i = 1; i <= kSteps; ++i) {
    const float scale = amax / 127.0f * (1.0f - static_cast<float>(i) / 100.0f);
    if (scale < kSmallestScale) break;
    const double noise = noise_at(row, n, scale);
    if (noise < least) {
      least = noise;
      best = scale;
    }
  }
  return best;
}

// Returns the scale of row r, whose largest magnitude is `amax`: its stored scale, or the best one.
float scale_of(const Matrix& matrix, uint32_t r, float amax) {
  return matrix.stored_scale.empty() ? best_scale(matrix.row(r), matrix.columns, amax) : matrix.stored_scale[r];
}

// Quantizes what row `place` of the first matrix leaves of `row` to the second matrix. Returns the energy of the noise
// that both leave together.
double quantize_remainder(
    std::span<const float> row, const Placement& column_placement, size_t place, QuantizedMatrix& quantized) {
  const int8_t* first = &quantized.weights[place * quantized.columns];
  std::vector<float> remainder(row.size());
  float amax = 0;
  for (uint32_t c = 0; c < row.size(); ++c) {
    remainder[c] = row[c] - static_cast<float>(first[column_placement.place(c)]) * quantized.scale[place];
    amax = std::max(amax, std::fabs(remainder[c]));
  }
  const size_t second = quantized.rows + place;
  float& scale = quantized.scale[second];
  if (amax >= kSmallestRow) scale = best_scale(remainder.data(), static_cast<uint32_t>(row.size()), amax);
  double noise = 0;
  for (uint32_t c = 0; c < row.size(); ++c) {
    const auto q = static_cast<int8_t>(amax < kSmallestRow ? 0 : quantize_value(remainder[c], scale));
    quantized.weights[second * quantized.columns + column_placement.place(c)] = q;
    quantized.weight_sum[second] += q;
    const double error = double{remainder[c]} - q * double{scale};
    noise += error * error;
  }
  return noise;
}

// Quantizes row r of `matrix` to row `place` of `quantized`, with its scale and sum. A row that is too small stays
// padding, unless it has a stored scale.
Energy quantize_row(
    const Matrix& matrix, uint32_t r, const Placement& column_placement, size_t place, QuantizedMatrix& quantized) {
  int8_t* weights = &quantized.weights[place * quantized.columns];
  float& scale = quantized.scale[place];
  const float* row = matrix.row(r);
  const float amax = largest_magnitude(matrix, r);
  const bool is_stored = !matrix.stored_scale.empty();
  const bool is_zero = amax < kSmallestRow && !is_stored;
  if (!is_zero) scale = scale_of(matrix, r, amax);
  checked_scale(scale, matrix, r, amax);
  Energy energy;
  if (amax == 0 && !is_stored && !quantized.has_second) return energy;
  for (uint32_t c = 0; c < matrix.columns; ++c) {
    const auto q = static_cast<int8_t>(is_zero ? 0 : quantize_value(row[c], scale));
    if (is_stored && static_cast<float>(q) * scale != row[c]) {
      throw Error("tensor '{}': element [{}, {}] is {}; expected an integer of -127 to 127 times the stored scale {}",
          printable(matrix.name), r, c, row[c], scale);
    }
    weights[column_placement.place(c)] = q;
    quantized.weight_sum[place] += q;
    const double noise = is_stored ? 0 : double{row[c]} - q * double{scale};
    energy.signal += double{row[c]} * double{row[c]};
    energy.noise += noise * noise;
  }
  if (quantized.has_second)
    energy.noise = quantize_remainder({row, matrix.columns}, column_placement, place, quantized);
  return energy;
}
}  // namespace

float largest_magnitude(const Matrix& matrix, uint32_t r) {
  const float* row = matrix.row(r);
  float amax = 0;
  for (uint32_t c = 0; c < matrix.columns; ++c) {
    if (!std::isfinite(row[c])) {
      throw Error(
          "tensor '{}': element [{}, {}] is {}; expected a finite number", printable(matrix.name), r, c, row[c]);
    }
    amax = std::max(amax, std::fabs(row[c]));
  }
  return amax;
}

float checked_scale(float scale, const Matrix& matrix, uint32_t r, float amax) {
  if (scale > kLargestScale) {
    throw Error("tensor '{}': row {} has a magnitude of {}; int8 rows go up to 127 * 2^16 = 8323072",
        printable(matrix.name), r, amax);
  }
  return scale;
}

QuantizedMatrix::QuantizedMatrix(uint32_t n, uint32_t k, bool second)
    : rows(pad16(n)),
      columns(pad16(k)),
      has_second(second),
      weights(size_t{stored_rows()} * columns),
      scale(stored_rows(), 1.0f),
      weight_sum(stored_rows()) {}

double quantize_rows(const Matrix& matrix, const Placement& row_placement, const Placement& column_placement,
    uint32_t first_row, QuantizedMatrix& quantized) {
  Energy total;
  for (uint32_t r = 0; r < matrix.rows; ++r) {
    const size_t place = size_t{first_row} + row_placement.place(r);
    const Energy energy = quantize_row(matrix, r, column_placement, place, quantized);
    total.signal += energy.signal;
    total.noise += energy.noise;
  }
  if (total.noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(total.signal / total.noise);
}

FloatMatrix::FloatMatrix(uint32_t n, uint32_t k) : rows(pad16(n)), columns(pad16(k)), weights(size_t{rows} * columns) {}

void copy_rows(const Matrix& matrix, const Placement& row_placement, const Placement& column_placement,
    uint32_t first_row, FloatMatrix& copied) {
  for (uint32_t r = 0; r < matrix.rows; ++r) {
    const size_t place = size_t{first_row} + row_placement.place(r);
    copy_floats({matrix.row(r), matrix.columns}, column_placement,
        format_text("tensor '{}': row {}", printable(matrix.name), r), &copied.weights[place * copied.columns]);
  }
}

std::optional<double> store_rows(const Matrix& matrix, const PlacedRows& to, QuantizedMatrix& stored) {
  const double sqnr_db = to.packer != nullptr ? to.packer->pack_rows(matrix, to.rows, to.first_row, stored)
                                              : quantize_rows(matrix, to.rows, to.columns, to.first_row, stored);
  matrix.values.release();
  return sqnr_db;
}

std::optional<double> store_rows(const Matrix& matrix, const PlacedRows& to, FloatMatrix& stored) {
  copy_rows(matrix, to.rows, to.columns, to.first_row, stored);
  matrix.values.release();
  return {};
}

void copy_floats(std::span<const float> values, const Placement& placement, const std::string& name, float* placed) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    const float magnitude = std::fabs(values[i]);
    if (!(magnitude <= kLargestFloat)) {
      throw Error(
          "{}: element {} is {}; expected a finite number of magnitude 2^16 = 65536 at most", name, i, values[i]);
    }
    placed[placement.place(i)] = magnitude < kSmallestFloat ? 0.0f : values[i];
  }
}

namespace {
// The contents of one 64-byte block. In the row-major layout a panel is one whole row.
struct Block {
  uint32_t outputs, inputs;
};

Block block_of(Layout layout, uint32_t columns) {
  if (layout == Layout::kRowMajor) return {1, columns};
  if (layout == Layout::kN16K4) return {16, 4};
  if (layout == Layout::kN4K16) return {4, 16};
  throw Error("layout {} is unknown; this version knows RowMajor, N16K4 and N4K16", static_cast<int>(layout));
}

// Calls move(row-major offset, packed offset, bytes) for every run of consecutive inputs, in packed order.
template <typename Move> void for_each_run(uint32_t rows, uint32_t columns, Layout layout, Move move) {
  assert(rows % 16 == 0 && columns % 16 == 0);
  const Block block = block_of(layout, columns);
  size_t packed = 0;
  for (size_t panel = 0; panel < rows; panel += block.outputs) {
    for (size_t column = 0; column < columns; column += block.inputs)
      for (size_t row = panel; row < panel + block.outputs; ++row, packed += block.inputs)
        move(row * columns + column, packed, block.inputs);
  }
}
}  // namespace

Layout layout_for_cpu(std::string_view cpu) {
  // Cortex-A of any number. M-profile cores differ in whether they have Helium.
  if (cpu.starts_with("cortex-a") && cpu.size() > std::string_view("cortex-a").size()) return Layout::kN16K4;
  for (const std::string_view name : {"generic", "x86", "cortex-m4", "cortex-m7", "cortex-m33"})
    if (cpu == name) return Layout::kN16K4;
  for (const std::string_view name : {"cortex-m55", "cortex-m85"})
    if (cpu == name) return Layout::kN4K16;
  throw Error(
      "unknown CPU '{}'; expected generic, x86, cortex-a followed by a number (Raspberry Pi 3: 53, 4: 72, 5: 76), "
      "cortex-m4, cortex-m7, cortex-m33, cortex-m55 or cortex-m85{}",
      cpu, guess(cpu, {"generic", "x86", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85"}));
}

std::vector<int8_t> pack(std::span<const int8_t> weights, uint32_t rows, uint32_t columns, Layout layout) {
  assert(weights.size() == size_t{rows} * columns);
  std::vector<int8_t> packed(weights.size());
  for_each_run(
      rows, columns, layout, [&](size_t from, size_t to, size_t n) { std::memcpy(&packed[to], &weights[from], n); });
  return packed;
}

std::vector<int8_t> unpack(std::span<const int8_t> packed, uint32_t rows, uint32_t columns, Layout layout) {
  assert(packed.size() == size_t{rows} * columns);
  std::vector<int8_t> weights(packed.size());
  for_each_run(
      rows, columns, layout, [&](size_t to, size_t from, size_t n) { std::memcpy(&weights[to], &packed[from], n); });
  return weights;
}
}  // namespace goldcrest::converter
