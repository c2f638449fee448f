// SPDX-License-Identifier: Apache-2.0
// Sums of float32 rows, each in one order that neither the compiler nor the machine chooses, so that they have the same
// bits everywhere; a library's products choose theirs by the CPU's vectors and caches.
//
// Terms i, i + 16, i + 32, ... make the i-th of 16 partial sums, which fit the vectors of any CPU; partial sum i + 8 is
// then added to i, i + 4 to i, i + 2 to i, i + 1 to i. A row's sums do not depend on the rows beside it.
#pragma once

#include <Eigen/Core>

namespace goldcrest::converter {

// Row-major: [rows, width].
using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
// All columns of Rows or neighbouring ones.
using RowsView = Eigen::Ref<const Rows, 0, Eigen::OuterStride<>>;

// x y^T, each element a sum of k products.  x: [m, k]; y: [n, k]; returns [m, n].
Rows times_transposed(const RowsView& x, const RowsView& y);
// x y, the k products of an element added one after the other.  x: [m, k]; y: [k, n]; returns [m, n].
Rows times(const RowsView& x, const RowsView& y);
// The sum of each row.  x: [m, k]; returns [m].
Eigen::VectorXf row_sums(const RowsView& x);

}  // namespace goldcrest::converter
