// SPDX-License-Identifier: Apache-2.0
// The best tokens of a row, block by block, and the log-sum-exp over blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "decoding/output_layer.h"
#include "kernels/reference/reference.h"
#include "support/rng.h"

namespace goldcrest {
namespace {

// A row's list over arrays of its own.
struct Row {
  Row(uint32_t vocab_size, uint32_t per_row)
      : logits(kOutputBlock),
        block_max((vocab_size + 255) / 256),
        block_sum(block_max.size()),
        values(per_row),
        tokens(per_row) {
    outputs.n = vocab_size;
    const auto n_blocks = static_cast<uint32_t>(block_max.size());
    lists = {logits.data(), block_max.data(), block_sum.data(), values.data(), tokens.data(),
             &count,        per_row,          n_blocks,         n_blocks};
  }

  LogitBlock block(Range of) { return {logits.data(), of, outputs, lists, 0}; }

  void collect_all(const std::vector<float>& x) {
    count = 0;
    for (uint32_t first = 0; first < x.size(); first += kOutputBlock) {
      const uint32_t n = std::min<uint32_t>(kOutputBlock, static_cast<uint32_t>(x.size()) - first);
      std::copy_n(x.begin() + first, n, logits.begin());
      block_max[first / kOutputBlock] = *std::max_element(logits.begin(), logits.begin() + n);
      if (may_enter(lists, 0, first / kOutputBlock)) collect(kernels_reference, block({first, n}));
    }
  }

  std::vector<float> logits, block_max, block_sum, values;
  std::vector<int32_t> tokens;
  uint32_t count = 0;
  OutputSet outputs = {};
  TopTokens lists = {};
};

TEST(MayEnter, OnlyWhatIsBetterThanAFullList) {
  Row row(2 * kOutputBlock, 2);
  row.block_max = {3.0f, 2.0f};
  EXPECT_TRUE(may_enter(row.lists, 0, 0));
  row.count = 2;
  row.values = {3.0f, 2.0f};
  EXPECT_FALSE(may_enter(row.lists, 0, 1));  // of equal values the lower id stays
  row.block_max[1] = 2.5f;
  EXPECT_TRUE(may_enter(row.lists, 0, 1));
  row.block_max[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(may_enter(row.lists, 0, 1));
}

TEST(Collect, EqualsAStableSort) {
  test::Rng rng(1);
  for (const uint32_t vocab_size : {1u, 2u, 17u, 255u, 256u, 257u, 1000u}) {
    for (const uint32_t per_row : {1u, 2u, 8u, 32u}) {
      std::vector<float> x(vocab_size);
      // A few distinct values make ties, also across blocks; some are removed.
      for (float& value : x) {
        value = rng.below(5) == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>(rng.below(40));
      }
      std::vector<int32_t> order;
      for (uint32_t i = 0; i < vocab_size; ++i) {
        if (std::isfinite(x[i])) order.push_back(static_cast<int32_t>(i));
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int32_t a, int32_t b) { return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]; });
      order.resize(std::min<size_t>(order.size(), per_row));
      Row row(vocab_size, per_row);
      row.collect_all(x);
      EXPECT_EQ(std::vector<int32_t>(row.tokens.begin(), row.tokens.begin() + row.count), order)
          << vocab_size << " ids, best " << per_row;
      for (uint32_t i = 0; i < row.count; ++i) EXPECT_EQ(row.values[i], x[static_cast<size_t>(row.tokens[i])]);
    }
  }
}

// Several tasks, each with some of the blocks in ascending order, together find what one task finds.
TEST(Collect, MergedListsOfAnyBlocksAreTheListOfAll) {
  test::Rng rng(4);
  constexpr uint32_t kBlocks = 6;
  for (const uint32_t per_row : {1u, 2u, 8u, 32u}) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<float> x(kBlocks * kOutputBlock);
      for (float& value : x) value = static_cast<float>(rng.below(30));  // with ties
      Row all(kBlocks * kOutputBlock, per_row);
      all.collect_all(x);
      Row tasks[3] = {
          {kBlocks * kOutputBlock, per_row}, {kBlocks * kOutputBlock, per_row}, {kBlocks * kOutputBlock, per_row}};
      for (uint32_t block = 0; block < kBlocks; ++block) {
        Row& task = tasks[rng.below(3)];
        std::copy_n(x.begin() + block * kOutputBlock, kOutputBlock, task.logits.begin());
        collect(kernels_reference, task.block({block * kOutputBlock, kOutputBlock}));
      }
      merge_top_tokens(tasks[0].lists, tasks[1].lists, 0);
      merge_top_tokens(tasks[0].lists, tasks[2].lists, 0);
      EXPECT_EQ(tasks[0].count, all.count);
      EXPECT_EQ(tasks[0].tokens, all.tokens) << "best " << per_row;
      EXPECT_EQ(tasks[0].values, all.values);
    }
  }
}

// Tasks have neighbouring outputs within a block.
TEST(Collect, MergedListsAreTheListOfAll) {
  test::Rng rng(3);
  for (const uint32_t per_row : {1u, 2u, 8u}) {
    for (const uint32_t split : {0u, 1u, 100u, 255u, 256u}) {
      std::vector<float> x(256);
      for (float& value : x) value = static_cast<float>(rng.below(30));  // with ties
      Row all(256, per_row), low(256, per_row), high(256, per_row);
      all.collect_all(x);
      low.collect_all({x.begin(), x.begin() + split});
      std::copy(x.begin() + split, x.end(), high.logits.begin());
      collect(kernels_reference, high.block({split, 256 - split}));
      merge_top_tokens(low.lists, high.lists, 0);
      EXPECT_EQ(low.count, all.count);
      EXPECT_EQ(low.tokens, all.tokens) << split << ", best " << per_row;
      EXPECT_EQ(low.values, all.values);
    }
  }
}

TEST(LogSumExp, EqualsTheSumOverAllOutputs) {
  test::Rng rng(2);
  for (const uint32_t n_blocks : {1u, 2u, 5u}) {
    Row row(n_blocks * kOutputBlock, 1);
    double sum = 0;
    for (uint32_t b = 0; b < n_blocks; ++b) {
      float largest = -1e30f;
      std::vector<float> x(kOutputBlock);
      for (float& value : x) {
        value = 20 * rng.uniform();
        largest = std::max(largest, value);
        sum += std::exp(double{value});
      }
      double block_sum = 0;
      for (const float value : x) block_sum += std::exp(double{value} - largest);
      row.block_max[b] = largest;
      row.block_sum[b] = static_cast<float>(block_sum);
    }
    EXPECT_NEAR(log_sum_exp(row.lists, 0), std::log(sum), 4e-6);
  }
}

}  // namespace
}  // namespace goldcrest
