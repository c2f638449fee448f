// SPDX-License-Identifier: Apache-2.0
#include "dialects/pad_heads.h"

#include <algorithm>

namespace goldcrest::converter {
namespace {

// The rows of all heads, each head filled up to `to` rows. A shape without weights has one row for all.
void pad_rows(LinearSpec& linear, uint32_t n_heads, uint32_t to) {
  const Matrix& narrow = *linear.weight;
  const uint32_t from = narrow.rows / n_heads;
  if (from == to) return;
  Matrix wide{narrow.name, n_heads * to, narrow.columns, {}, narrow.same_rows};
  if (narrow.same_rows || narrow.values.empty()) {
    wide.values = narrow.values;
  } else {
    wide.values.resize(size_t{wide.rows} * wide.columns, 0.0f);
    for (uint32_t head = 0; head < n_heads; ++head) {
      const float* const first = narrow.row(head * from);
      std::copy(first, first + size_t{from} * narrow.columns,
                wide.values.begin() + static_cast<std::ptrdiff_t>(size_t{head} * to * wide.columns));
    }
  }
  std::vector<float> bias(linear.bias.empty() ? 0 : wide.rows, 0.0f);
  for (size_t i = 0; i < linear.bias.size(); ++i) bias[i / from * to + i % from] = linear.bias[i];
  linear.weight = std::make_shared<const Matrix>(std::move(wide));
  linear.bias = std::move(bias);
}

// The same for the columns.
void pad_columns(LinearSpec& linear, uint32_t n_heads, uint32_t to) {
  const Matrix& narrow = *linear.weight;
  const uint32_t from = narrow.columns / n_heads;
  if (from == to) return;
  Matrix wide{narrow.name, narrow.rows, n_heads * to, {}, narrow.same_rows};
  const uint32_t stored_rows = narrow.values.empty() ? 0 : narrow.same_rows ? 1 : narrow.rows;
  wide.values.resize(size_t{stored_rows} * wide.columns, 0.0f);
  for (uint32_t row = 0; row < stored_rows; ++row) {
    for (uint32_t column = 0; column < narrow.columns; ++column) {
      wide.values[size_t{row} * wide.columns + size_t{column} / from * to + column % from] = narrow.row(row)[column];
    }
  }
  linear.weight = std::make_shared<const Matrix>(std::move(wide));
}

}  // namespace

void pad_heads(AttentionSpec& attention, uint32_t n_heads, uint32_t d_head) {
  pad_rows(attention.query, n_heads, d_head);
  pad_rows(attention.key, n_heads, d_head);
  pad_rows(attention.value, n_heads, d_head);
  pad_columns(attention.out, n_heads, d_head);
}

}  // namespace goldcrest::converter
