// SPDX-License-Identifier: Apache-2.0
// The float forward pass: the state that it keeps, the layers that it shows, and the inputs that it refuses.
#include "reference/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "math/ordered_sums.h"
#include "spec/error.h"
#include "support/random_spec.h"
#include "support/rng.h"

namespace goldcrest::converter {
namespace {

const std::vector<int32_t> kSource = {3, 18, 7, 0, 7}, kTarget = {5, 36, 11, 5, 0, 30};

TEST(Reference, HypothesesDoNotMeetAndSelectCopiesThem) {
  const ModelSpec spec = test::random_spec(3);
  const Reference reference(spec);
  const EncodedSource encoded = reference.encode(kSource);
  // First two hypotheses, then three that continue numbers 1, 0 and 1.
  DecoderState state = reference.start(2);
  reference.decode(encoded, std::vector<int32_t>{36, 36}, state);
  reference.decode(encoded, std::vector<int32_t>{4, 9}, state);
  state = state.select(std::vector<uint32_t>{1, 0, 1});
  const Logits together = reference.decode(encoded, std::vector<int32_t>{8, 8, 1}, state);
  const std::vector<std::vector<int32_t>> targets = {{9, 8, 0}, {4, 8, 0}, {9, 1, 0}};
  for (size_t i = 0; i < 3; ++i) {
    const Logits alone = reference.teacher_forced_logits(encoded, targets[i]);
    EXPECT_TRUE(std::ranges::equal(together.row(i), alone.row(2))) << "hypothesis " << i;
  }
}

TEST(Reference, TraceNamesEveryLayerAndRow) {
  ModelSpec spec = test::random_spec(5);
  Reference reference(spec);
  std::map<std::string, std::vector<uint32_t>> rows;
  reference.set_trace([&](const std::string& name, int layer, uint32_t row, std::span<const float> values) {
    rows[layer < 0 ? name : format_text("{}.{}", name, layer)].push_back(row);
    EXPECT_EQ(values.size(), name == "logits" ? 37u : name.starts_with("encoder") ? 20u : 24u);
  });
  reference.teacher_forced_logits(reference.encode(kSource), std::vector<int32_t>{1, 2});
  const std::vector<uint32_t> source_rows = {0, 1, 2, 3, 4}, target_rows = {0, 1};
  const std::map<std::string, std::vector<uint32_t>> expected = {
      {"encoder.embed", source_rows}, {"encoder.layers.0", source_rows}, {"encoder.norm", source_rows},
      {"decoder.embed", target_rows}, {"decoder.layers.0", target_rows}, {"decoder.layers.1", target_rows},
      {"logits", target_rows}};
  EXPECT_EQ(rows, expected);
}

TEST(Reference, RefusesWhatDoesNotFit) {
  ModelSpec spec = test::random_spec(5);
  const Reference reference(spec);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{19}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>(12, 1)), Error);  // there are 11 positions
  const EncodedSource encoded = reference.encode(kSource);
  EXPECT_THROW(reference.teacher_forced_logits(encoded, std::vector<int32_t>(12, 1)), Error);
  spec.decoder.layers[1].feed_forward.out.bias.pop_back();
  EXPECT_THROW(Reference{spec}, Error);
}

// Tests the order of the float reference's sums with a second implementation: a recursive tree over strided partial
// sums.

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
