// SPDX-License-Identifier: Apache-2.0
// Functions that the formulas of several checkpoints share, in doubles and without caches.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace goldcrest::test {

using FormulaRow = std::vector<double>;
using FormulaRows = std::vector<FormulaRow>;  // [positions]

// The rows [begin, begin + outputs) of a matrix, times x.
inline FormulaRows product(const std::vector<float>& weight, const std::vector<float>& bias, size_t begin,
                           size_t outputs, const FormulaRows& x) {
  FormulaRows y;
  for (const FormulaRow& row : x) {
    y.emplace_back();
    for (size_t n = begin; n < begin + outputs; ++n) {
      double sum = bias.empty() ? 0 : double{bias[n]};
      for (size_t k = 0; k < row.size(); ++k) sum += double{weight[n * row.size() + k]} * row[k];
      y.back().push_back(sum);
    }
  }
  return y;
}

// Attention without its projections.
inline FormulaRows mix(const FormulaRows& queries, const FormulaRows& keys, const FormulaRows& values, size_t heads,
                       bool is_causal) {
  const size_t width = queries[0].size(), head = width / heads;
  FormulaRows mixed(queries.size(), FormulaRow(width, 0.0));
  for (size_t t = 0; t < queries.size(); ++t) {
    for (size_t begin = 0; begin < width; begin += head) {
      FormulaRow weights;
      double sum = 0;
      for (size_t s = 0; s < (is_causal ? t + 1 : keys.size()); ++s) {
        double score = 0;
        for (size_t i = begin; i < begin + head; ++i) score += queries[t][i] * keys[s][i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
        sum += weights.back();
      }
      for (size_t s = 0; s < weights.size(); ++s)
        for (size_t i = begin; i < begin + head; ++i) mixed[t][i] += weights[s] / sum * values[s][i];
    }
  }
  return mixed;
}

inline void add_rows(const FormulaRows& x, FormulaRows& y) {
  for (size_t t = 0; t < x.size(); ++t)
    for (size_t i = 0; i < x[t].size(); ++i) y[t][i] += x[t][i];
}

}  // namespace goldcrest::test
