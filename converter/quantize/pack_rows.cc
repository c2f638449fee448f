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
constexpr uint32_t kGroup = kPackedGroup, kRowsTogether = 8;
using Lanes = std::array<double, kRowsTogether>;
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
    : columns_(columns), k_(packed_groups(columns.placed_size()) * kGroup), cost_(k_, 1.0f) {
  if (products.empty()) return;
  const uint32_t n = columns.n_groups * columns.group;
  assert(products.size() == size_t{n} * n);
  double mean = 0;
  for (uint32_t i = 0; i < n; ++i) mean += double{products[size_t{i} * n + i]} / n;
  if (!(mean > 0) || !std::isfinite(mean)) return;  // no input was seen
  products_.assign(size_t{k_} * k_, 0);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j)
      products_[size_t{columns.place(i)} * k_ + columns.place(j)] = double{products[size_t{i} * n + j]} / mean;
  for (uint32_t i = 0; i < k_; ++i) products_[size_t{i} * k_ + i] += kDamping;
  shares_ = products_;
  if (!factor(shares_, k_)) throw Error("the products of a layer's inputs are not finite; expected finite activations");
  for (uint32_t j = 0; j < k_; ++j) {
    const double diagonal = shares_[size_t{j} * k_ + j];
    cost_[j] = static_cast<float>(diagonal * diagonal);
    for (uint32_t i = 0; i < j; ++i) shares_[size_t{i} * k_ + j] /= diagonal;
  }
}

float RowPacker::choose_scale(const std::vector<float>& row, float amax) const {
  float best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const int largest : largest_integers()) {
    const float scale = amax / static_cast<float>(largest);
    double error = 0;
    for (size_t first = 0; first < row.size() && error < least; first += kGroup)
      error += double{choose_multiplier(&row[first], &cost_[first], scale).error};
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

// Rows that share the reads of shares_ and products_; after a matrix's last one, zeros.
struct RowPacker::Rows {
  explicit Rows(uint32_t k) : weights(k), errors(k) {
    w.fill(std::vector<float>(k));
    multipliers.fill(std::vector<int>(k / kGroup, 1));
    scale.fill(1.0f);
  }

  // Takes the weight nearest to the wanted one. Returns its error.
  double round(uint32_t i, uint32_t r, double wanted) {
    const int m = multipliers[r][i / kGroup];
    weights[i][r] = m * nearest_nibble(wanted, m * double{scale[r]});
    return double{w[r][i]} - weights[i][r] * double{scale[r]};
  }

  std::array<std::vector<float>, kRowsTogether> w;
  std::array<std::vector<int>, kRowsTogether> multipliers;  // one for each group
  std::array<float, kRowsTogether> scale;
  std::vector<std::array<int, kRowsTogether>> weights;
  std::vector<Lanes> errors;
};

void RowPacker::round_in_order(Rows& rows) const {
  std::vector<Lanes> taken(k_);  // what earlier errors add to a weight
  for (uint32_t i = 0; i < k_; ++i) {
    for (uint32_t r = 0; r < kRowsTogether; ++r) {
      if (i % kGroup == 0) {
        std::array<float, kGroup> group;
        for (uint32_t j = 0; j < kGroup; ++j) {
          const double wanted = double{rows.w[r][i + j]} + taken[i + j][r];
          group[j] = static_cast<float>(wanted);
        }
        rows.multipliers[r][i / kGroup] = choose_multiplier(group.data(), &cost_[i], rows.scale[r]).multiplier;
      }
      rows.errors[i][r] = rows.round(i, r, double{rows.w[r][i]} + taken[i][r]);
    }
    for (uint32_t j = i + 1; j < k_ && !shares_.empty(); ++j) {
      const double share = shares_[size_t{i} * k_ + j];
      for (uint32_t r = 0; r < kRowsTogether; ++r) taken[j][r] += rows.errors[i][r] * share;
    }
  }
}

void RowPacker::round_again(Rows& rows) const {
  constexpr uint32_t kPasses = 4;
  if (products_.empty()) return;
  std::vector<Lanes> slopes(k_);  // products_ times errors
  for (uint32_t i = 0; i < k_; ++i) {
    const double* const products = &products_[size_t{i} * k_];
    for (uint32_t j = 0; j < k_; ++j)
      for (uint32_t r = 0; r < kRowsTogether; ++r) slopes[j][r] += rows.errors[i][r] * products[j];
  }
  for (uint32_t turn = 0; turn < kPasses * k_; ++turn) {
    const uint32_t i = turn % k_;
    const double* const products = &products_[size_t{i} * k_];
    for (uint32_t r = 0; r < kRowsTogether; ++r) {
      double& error = rows.errors[i][r];
      const double change = rows.round(i, r, double{rows.w[r][i]} - error + slopes[i][r] / products[i]) - error;
      for (uint32_t j = 0; j < k_ && change != 0; ++j) slopes[j][r] += change * products[j];
      error += change;
    }
  }
}

double RowPacker::pack_rows(
    const Matrix& matrix, const Placement& rows, uint32_t first_row, QuantizedMatrix& packed) const {
  const uint32_t n_groups = k_ / kGroup;
  double signal = 0, noise = 0;
  for (uint32_t first = 0; first < matrix.rows; first += kRowsTogether) {
    const uint32_t count = std::min(kRowsTogether, matrix.rows - first);
    Rows together(k_);
    for (uint32_t r = 0; r < count; ++r) {
      const float amax = largest_magnitude(matrix, first + r);
      for (uint32_t c = 0; c < matrix.columns; ++c) together.w[r][columns_.place(c)] = matrix.row(first + r)[c];
      if (amax >= kSmallestRow) together.scale[r] = choose_scale(together.w[r], amax);
      packed.scale[first_row + rows.place(first + r)] = checked_scale(together.scale[r], matrix, first + r, amax);
    }
    round_in_order(together);
    round_again(together);
    for (uint32_t r = 0; r < count; ++r) {
      const size_t place = first_row + rows.place(first + r);
      for (uint32_t i = 0; i < k_; ++i) {
        const int weight = together.weights[i][r];
        const double w = double{together.w[r][i]}, error = together.errors[i][r];
        signal += w * w;
        noise += error * error;
        if (i < packed.columns) packed.weights[place * packed.columns + i] = static_cast<int8_t>(weight);
        packed.weight_sum[place] += weight;
      }
      for (uint32_t group = 0; group < n_groups; ++group)
        packed.multipliers[(place / 16 * n_groups + group) * 16 + place % 16] =
            static_cast<int8_t>(together.multipliers[r][group]);
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
