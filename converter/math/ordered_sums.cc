// SPDX-License-Identifier: Apache-2.0
// The 16 partial sums are four vectors of four. These vectors of GCC and clang are computed element by element on any
// CPU.
#include "math/ordered_sums.h"
#include <algorithm>
#include <array>
#include <cstring>

namespace goldcrest::converter {
namespace {
using Four = float __attribute__((vector_size(16)));
using PartialSums = std::array<Four, 4>;
constexpr size_t kTerms = 16;

Four load(const float* x) {
  Four four;
  std::memcpy(&four, x, sizeof four);
  return four;
}

// sums[r] += 16 products of x[r] with y.
template <size_t kRows>
void add_products(const std::array<const float*, kRows>& x, const float* y, std::array<PartialSums, kRows>& sums) {
  for (size_t part = 0; part < 4; ++part) {
    const Four of_y = load(y + 4 * part);
    for (size_t r = 0; r < kRows; ++r) sums[r][part] += load(x[r] + 4 * part) * of_y;
  }
}

float total(const PartialSums& sums) {
  const Four four = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// Several rows at once share the reads of y.  x: kRows of [k]; y: [k]; out: kRows, `out_stride` apart.
template <size_t kRows>
void dot(std::array<const float*, kRows> x, const float* y, size_t k, float* out, size_t out_stride) {
  std::array<PartialSums, kRows> sums = {};
  for (; k >= kTerms; k -= kTerms, y += kTerms) {
    add_products(x, y, sums);
    for (const float*& row : x) row += kTerms;
  }
  if (k > 0) {  // zeros after the last terms
    std::array<std::array<float, kTerms>, kRows + 1> last = {};
    std::copy_n(y, k, last[kRows].data());
    for (size_t r = 0; r < kRows; ++r) {
      std::copy_n(x[r], k, last[r].data());
      x[r] = last[r].data();
    }
    add_products(x, last[kRows].data(), sums);
  }
  for (size_t r = 0; r < kRows; ++r) out[r * out_stride] = total(sums[r]);
}
}  // namespace

Rows times_transposed(const RowsView& x, const RowsView& y) {
  const auto k = static_cast<size_t>(x.cols()), n = static_cast<size_t>(y.rows());
  const auto x_row = [&](Eigen::Index i) { return x.data() + i * x.outerStride(); };
  Rows out(x.rows(), y.rows());
  for (Eigen::Index column = 0; column < y.rows(); ++column) {
    const float* y_row = y.data() + column * y.outerStride();
    Eigen::Index i = 0;
    for (; i + 2 <= x.rows(); i += 2) dot<2>({x_row(i), x_row(i + 1)}, y_row, k, &out(i, column), n);
    for (; i < x.rows(); ++i) dot<1>({x_row(i)}, y_row, k, &out(i, column), n);
  }
  return out;
}

Rows times(const RowsView& x, const RowsView& y) {
  Rows out = Rows::Zero(x.rows(), y.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) out.row(i) += x(i, j) * y.row(j);
  return out;
}

Eigen::VectorXf row_sums(const RowsView& x) { return times_transposed(x, Rows::Ones(1, x.cols())); }
}  // namespace goldcrest::converter
