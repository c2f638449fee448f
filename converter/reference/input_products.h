// SPDX-License-Identifier: Apache-2.0
// The inputs of linear layers as sums of products, X^T X, which tell how much an error of a weight costs. The sums have
// a fixed order, so the same inputs give the same bits on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>
#include "math/ordered_sums.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Sums of the products of a matrix' inputs, [k, k].
class InputProducts {
 public:
  // Adds rows; of more than `most`, only the first `most`.
  void add(const Rows& x, Eigen::Index most);
  // Adds what is left and returns the sums.
  const Rows& finish();
 private:
  void flush();

  Rows sums_, waiting_;  // waiting_: [k, kept rows], transposed
  Eigen::Index n_waiting_ = 0;
};

using CollectedProducts = std::map<const Matrix*, InputProducts>;

// While it lives, this thread's linear layers add their inputs to the products of their weights, if these are in the
// map.
class CollectInputs {
 public:
  explicit CollectInputs(CollectedProducts& products);
  ~CollectInputs();
  CollectInputs(const CollectInputs&) = delete;
  CollectInputs& operator=(const CollectInputs&) = delete;

  // From now on only the first `most` rows of a layer count: those of a clip, without the silence that fills a window.
  void limit_rows(uint32_t most) { most_ = most; }
  static void add(const Matrix* of, const Rows& x);
 private:
  CollectedProducts& products_;
  uint32_t most_ = UINT32_MAX;
};
}  // namespace goldcrest::converter
