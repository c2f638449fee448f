// SPDX-License-Identifier: Apache-2.0
// Only operations that IEEE 754 rounds exactly once, in a fixed order: every machine writes the same file.
#include "quantize/pack_rows.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>
#include "host/printable.h"
#include "model/packed.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kGroup = kPackedGroup;
constexpr double kDamping = 0.01;  // a share of the mean diagonal: inputs that were not seen weigh a little

int nearest_nibble(double w, double step) { return static_cast<int>(std::clamp(std::nearbyint(w / step), -8.0, 7.0)); }

// Returns the weighted squared error of a group at a step, in eight sums that a compiler can keep in registers.
float group_error(const float* w, const float* weight, float step) {
  constexpr uint32_t kLanes = 8;
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer
  const float inverse = 1.0f / step;
  float lanes[kLanes] = {};
  for (uint32_t first = 0; first < kGroup; first += kLanes) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      const float q = std::clamp((w[first + i] * inverse + kNoFraction) - kNoFraction, -8.0f, 7.0f);
      const float error = w[first + i] - q * step;
      lanes[i] += error * error * weight[first + i];
    }
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// The multiplier of least error of a group, and that error.
struct GroupChoice {
  int multiplier = 1;
  float error = 0;
};

GroupChoice choose_multiplier(const float* w, const float* weight, float scale) {
  float largest = 0;
  for (uint32_t i = 0; i < kGroup; ++i) largest = std::max(largest, std::fabs(w[i]));
  if (largest == 0) return {};
  // At the smallest of these, a group's largest weight is cut to half.
  const int most = std::clamp(static_cast<int>(std::ceil(largest / (7 * scale))), 1, kMostMultiplier);
  const int least = std::clamp(static_cast<int>(largest / (14 * scale)), 1, most);
  GroupChoice best = {1, std::numeric_limits<float>::infinity()};
  for (int magnitude = least; magnitude <= most; ++magnitude) {
    for (const int m : {magnitude, -magnitude}) {
      const float error = group_error(w, weight, static_cast<float>(m) * scale);
      if (error < best.error) best = {m, error};
    }
  }
  return best;
}

// The magnitudes that the largest weight of a row may have: all that a multiplier and a nibble make, so that a row that
// is already on such a grid finds it.
const std::set<int>& largest_integers() {
  static const std::set<int> integers = [] {
    constexpr int kLeast = 24;  // with fewer, a row has coarser steps than it needs
    std::set<int> found;
    for (int m = 1; m <= kMostMultiplier; ++m)
      for (int nibble = 1; nibble <= 8; ++nibble)
        if (m * nibble >= kLeast) found.insert(m * nibble);
    return found;
  }();
  return integers;
}

// r [k, k] <- the upper triangle R with R R^T = products. Returns false if they are not positive definite.
bool factor(std::vector<double>& r, uint32_t k) {
  for (uint32_t j = k; j-- > 0;) {
    double* const of_j = &r[size_t{j} * k];
    double diagonal = of_j[j];
    for (uint32_t c = j + 1; c < k; ++c) diagonal -= of_j[c] * of_j[c];
    if (!(diagonal > 0)) return false;
    of_j[j] = std::sqrt(diagonal);
    for (uint32_t i = 0; i < j; ++i) {
      const double* const of_i = &r[size_t{i} * k];
      std::array<double, 4> lanes = {};
      uint32_t c = j + 1;
      for (; c + 4 <= k; c += 4)
        for (uint32_t lane = 0; lane < 4; ++lane) lanes[lane] += of_i[c + lane] * of_j[c + lane];
      double sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
      for (; c < k; ++c) sum += of_i[c] * of_j[c];
      r[size_t{i} * k + j] = (of_i[j] - sum) / of_j[j];
    }
  }
  return true;
}
}  // namespace

RowPacker::RowPacker(std::span<const float> products, const Placement& columns)
    : columns_(columns), k_(packed_groups(columns.placed_size()) * kGroup), diagonal_(k_, 1.0f) {
  if (products.empty()) return;
  const uint32_t n = columns.n_groups * columns.group;
  assert(products.size() == size_t{n} * n);
  double mean = 0;
  for (uint32_t i = 0; i < n; ++i) mean += double{products[size_t{i} * n + i]} / n;
  if (!(mean > 0) || !std::isfinite(mean)) return;  // no input was seen
  shares_.assign(size_t{k_} * k_, 0);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j)
      shares_[size_t{columns.place(i)} * k_ + columns.place(j)] = double{products[size_t{i} * n + j]} / mean;
  for (uint32_t i = 0; i < k_; ++i) {
    double& diagonal = shares_[size_t{i} * k_ + i];
    diagonal += kDamping;
    diagonal_[i] = static_cast<float>(diagonal);
  }
  if (!factor(shares_, k_)) throw Error("the products of a layer's inputs are not finite; expected finite activations");
  for (uint32_t j = 0; j < k_; ++j) {
    const double diagonal = shares_[size_t{j} * k_ + j];
    for (uint32_t i = 0; i < j; ++i) shares_[size_t{i} * k_ + j] /= diagonal;
  }
}

std::vector<float> RowPacker::placed(const Matrix& matrix, uint32_t r) const {
  std::vector<float> row(k_);
  for (uint32_t c = 0; c < matrix.columns; ++c) row[columns_.place(c)] = matrix.row(r)[c];
  return row;
}

float RowPacker::choose_grid(const std::vector<float>& row, float amax, std::vector<int>& multipliers) const {
  const size_t n_groups = row.size() / kGroup;
  float best_scale = 0;
  double least = std::numeric_limits<double>::infinity();
  std::vector<int> found(n_groups);
  for (const int largest : largest_integers()) {
    const float scale = amax / static_cast<float>(largest);
    double error = 0;
    for (size_t group = 0; group < n_groups && error < least; ++group) {
      const GroupChoice choice = choose_multiplier(&row[group * kGroup], &diagonal_[group * kGroup], scale);
      found[group] = choice.multiplier;
      error += double{choice.error};
    }
    if (error < least) {
      least = error;
      best_scale = scale;
      multipliers = found;
    }
  }
  return best_scale;
}

double RowPacker::pack_rows(
    const Matrix& matrix, const Placement& rows, uint32_t first_row, QuantizedMatrix& packed) const {
  constexpr uint32_t kTogether = 8;  // rows share the reads of shares_
  const uint32_t n_groups = k_ / kGroup;
  double signal = 0, noise = 0;
  for (uint32_t first = 0; first < matrix.rows; first += kTogether) {
    const uint32_t count = std::min(kTogether, matrix.rows - first);
    std::vector<std::vector<float>> row(count);
    std::vector<std::vector<int>> multipliers(count, std::vector<int>(n_groups, 1));
    std::vector<float> scale(count, 1.0f);
    std::vector<double> taken(size_t{k_} * count);  // [k_, count]: what earlier errors add to a weight
    for (uint32_t r = 0; r < count; ++r) {
      const float amax = largest_magnitude(matrix, first + r);
      row[r] = placed(matrix, first + r);
      if (amax >= kSmallestRow) scale[r] = choose_grid(row[r], amax, multipliers[r]);
      packed.scale[first_row + rows.place(first + r)] = checked_scale(scale[r], matrix, first + r, amax);
    }
    for (uint32_t i = 0; i < k_; ++i) {
      std::array<double, kTogether> errors = {};
      for (uint32_t r = 0; r < count; ++r) {
        const size_t place = first_row + rows.place(first + r);
        const int m = multipliers[r][i / kGroup];
        const double w = double{row[r][i]}, step = m * double{scale[r]};
        const int weight = m * nearest_nibble(w + taken[size_t{i} * count + r], step);
        errors[r] = w - weight * double{scale[r]};
        signal += w * w;
        noise += errors[r] * errors[r];
        if (i < packed.columns) packed.weights[place * packed.columns + i] = static_cast<int8_t>(weight);
        packed.weight_sum[place] += weight;
      }
      for (uint32_t j = i + 1; j < k_ && !shares_.empty(); ++j) {
        const double share = shares_[size_t{i} * k_ + j];
        for (uint32_t r = 0; r < count; ++r) taken[size_t{j} * count + r] += errors[r] * share;
      }
    }
    for (uint32_t r = 0; r < count; ++r) {
      const size_t place = first_row + rows.place(first + r);
      for (uint32_t group = 0; group < n_groups; ++group)
        packed.multipliers[(place / 16 * n_groups + group) * 16 + place % 16] =
            static_cast<int8_t>(multipliers[r][group]);
    }
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

namespace {
// Calls visit(index of the nibble's byte, high, index of the weight, index of the multiplier) for all weights.
template <typename Visit> void for_each_nibble(uint32_t rows, uint32_t columns, Layout layout, Visit visit) {
  const PackedBlock block = packed_block(layout);
  const size_t n_groups = packed_groups(columns);
  for (size_t row = 0; row < rows; ++row) {
    const size_t first = row / block.outputs * block.outputs * n_groups * 16 + row % block.outputs * block.inputs;
    for (size_t column = 0; column < columns; ++column) {
      const size_t turn = column / block.inputs;
      visit(first + turn / 2 * block.outputs * block.inputs + column % block.inputs, turn % 2, row * columns + column,
          (row / 16 * n_groups + column / kGroup) * 16 + row % 16);
    }
  }
}
}  // namespace

std::vector<uint8_t> pack_nibbles(const QuantizedMatrix& matrix, Layout layout) {
  std::vector<uint8_t> bytes(nibble_bytes(matrix.rows, matrix.columns), 0x88);
  for_each_nibble(matrix.rows, matrix.columns, layout, [&](size_t at, size_t high, size_t weight, size_t multiplier) {
    const int m = matrix.multipliers[multiplier], nibble = m == 0 ? 8 : matrix.weights[weight] / m + 8;
    bytes[at] = static_cast<uint8_t>((bytes[at] & ~(15 << 4 * high)) | nibble << 4 * high);
  });
  bytes.insert(bytes.end(), matrix.multipliers.begin(), matrix.multipliers.end());
  return bytes;
}

QuantizedMatrix unpack_nibbles(std::span<const uint8_t> packed, uint32_t rows, uint32_t columns, Layout layout) {
  QuantizedMatrix matrix(rows, columns);
  const std::span<const uint8_t> multipliers = packed.subspan(nibble_bytes(rows, columns));
  matrix.multipliers.assign(multipliers.begin(), multipliers.end());
  for_each_nibble(rows, columns, layout, [&](size_t at, size_t high, size_t weight, size_t multiplier) {
    matrix.weights[weight] = static_cast<int8_t>(matrix.multipliers[multiplier] * ((packed[at] >> 4 * high & 15) - 8));
  });
  return matrix;
}
}  // namespace goldcrest::converter
