// SPDX-License-Identifier: Apache-2.0
#include "reference/input_products.h"
#include <algorithm>

namespace goldcrest::converter {
namespace {
thread_local CollectInputs* collector = nullptr;

constexpr Eigen::Index kTogether = 256;  // rows
constexpr Eigen::Index kBlock = 64;      // columns of the sums
}  // namespace

void InputProducts::add(const Rows& x, Eigen::Index most) {
  if (waiting_.size() == 0) {
    sums_ = Rows::Zero(x.cols(), x.cols());
    waiting_ = Rows::Zero(x.cols(), kTogether);
  }
  for (Eigen::Index row = 0; row < std::min(x.rows(), most); ++row) {
    waiting_.col(n_waiting_) = x.row(row);
    if (++n_waiting_ == kTogether) flush();
  }
}

// Computes the lower triangle, in blocks.
void InputProducts::flush() {
  const Eigen::Index k = waiting_.rows();
  for (Eigen::Index first = 0; first < k; first += kBlock) {
    const Eigen::Index n = std::min(kBlock, k - first);
    sums_.block(first, 0, n, first + n) += times_transposed(waiting_.middleRows(first, n), waiting_.topRows(first + n));
  }
  waiting_.setZero();
  n_waiting_ = 0;
}

const Rows& InputProducts::finish() {
  if (n_waiting_ > 0) flush();
  waiting_.resize(0, 0);
  for (Eigen::Index row = 0; row < sums_.rows(); ++row)
    for (Eigen::Index column = row + 1; column < sums_.cols(); ++column) sums_(row, column) = sums_(column, row);
  return sums_;
}

CollectInputs::CollectInputs(CollectedProducts& products) : products_(products) { collector = this; }

CollectInputs::~CollectInputs() { collector = nullptr; }

void CollectInputs::add(const Matrix* of, const Rows& x) {
  if (collector == nullptr) return;
  const auto found = collector->products_.find(of);
  if (found != collector->products_.end()) found->second.add(x, collector->most_);
}
}  // namespace goldcrest::converter
