// SPDX-License-Identifier: Apache-2.0
// Sums of float32 rows in a fixed order, which neither the compiler nor the machine chooses, so they have the same bits
// everywhere. A library chooses its order by the CPU's vectors and caches.
//
// Terms i, i + 16, i + 32, ... make the i-th of 16 partial sums, which fit the vectors of any CPU. Then partial sum i +
// 8 is added to i, i + 4 to i, i + 2 to i, i + 1 to i. A row's sums do not depend on other rows.
#pragma once

#include <Eigen/Core>

namespace goldcrest::converter {
// Row-major: [rows, width].
using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
// Some consecutive columns of Rows, or all.
using RowsView = Eigen::Ref<const Rows, 0, Eigen::OuterStride<>>;

// x y^T, each element a sum of k products.  x: [m, k]; y: [n, k]; returns [m, n].
Rows times_transposed(const RowsView& x, const RowsView& y);
// x y, where the k products of an element are added one after another.  x: [m, k]; y: [k, n]; returns [m, n].
Rows times(const RowsView& x, const RowsView& y);
// The sum of each row.  x: [m, k]; returns [m].
Eigen::VectorXf row_sums(const RowsView& x);
}  // namespace goldcrest::converter
