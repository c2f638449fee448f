// SPDX-License-Identifier: Apache-2.0
// Tests the order of the float reference's sums with a second implementation: a recursive tree over strided partial
// sums.
#include "math/ordered_sums.h"

#include <gtest/gtest.h>

#include <array>

#include "support/rng.h"

namespace goldcrest::converter {
namespace {

Rows random_rows(test::Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  return Rows::NullaryExpr(rows, columns, [&] { return rng.uniform(); });
}

// Adds the partial sums i, i + stride, i + 2 stride, ... in a tree.
float tree(const std::array<float, 16>& sums, size_t i, size_t stride) {
  return stride == 16 ? sums[i] : tree(sums, i, 2 * stride) + tree(sums, i + stride, 2 * stride);
}

float strided_dot(const Rows& x, Eigen::Index i, const Rows& y, Eigen::Index j) {
  std::array<float, 16> sums = {};
  for (Eigen::Index k = 0; k < x.cols(); ++k) sums[static_cast<size_t>(k % 16)] += x(i, k) * y(j, k);
  return tree(sums, 0, 1);
}

TEST(OrderedSums, ProductsOfRowsAddStridedPartialSums) {
  test::Rng rng(1);
  for (Eigen::Index width = 1; width <= 70; ++width) {
    for (Eigen::Index rows = 1; rows <= 4; ++rows) {
      const Rows x = random_rows(rng, rows, width), y = random_rows(rng, 3, width), found = times_transposed(x, y);
      for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < 3; ++j) ASSERT_EQ(found(i, j), strided_dot(x, i, y, j)) << width;
    }
  }
}

TEST(OrderedSums, ColumnsOfWiderRows) {
  test::Rng rng(2);
  const Rows x = random_rows(rng, 3, 50), y = random_rows(rng, 4, 60);
  const Rows x_part = x.middleCols(7, 21), y_part = y.middleCols(30, 21);
  EXPECT_EQ(times_transposed(x.middleCols(7, 21), y.middleCols(30, 21)), times_transposed(x_part, y_part));
  EXPECT_EQ(times(x.middleCols(1, 4), y.middleCols(30, 21)), times(x.middleCols(1, 4), y_part));
}

TEST(OrderedSums, ProductsAddOneRowAfterTheOther) {
  test::Rng rng(3);
  const Rows x = random_rows(rng, 3, 37), y = random_rows(rng, 37, 5), found = times(x, y);
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = 0; j < 5; ++j) {
      float sum = 0;
      for (Eigen::Index k = 0; k < 37; ++k) sum += x(i, k) * y(k, j);
      EXPECT_EQ(found(i, j), sum);
    }
  }
}

TEST(OrderedSums, SumsOfRowsAreProductsWithOnes) {
  test::Rng rng(4);
  const Rows x = random_rows(rng, 3, 41);
  const Eigen::VectorXf sums = row_sums(x);
  for (Eigen::Index i = 0; i < 3; ++i) EXPECT_EQ(sums[i], strided_dot(x, i, Rows::Ones(1, 41), 0));
}

}  // namespace
}  // namespace goldcrest::converter
