// SPDX-License-Identifier: Apache-2.0
#include "dialects/nn_transformer/pad_heads.h"

#include <algorithm>

namespace goldcrest::converter {
namespace {

// Pads the rows of all heads, each head to `to` rows. In a shape without weights one row stands for all.
void pad_rows(LinearSpec& linear, uint32_t n_heads, uint32_t to) {
  const std::shared_ptr<const Matrix> narrow = linear.weight;
  const uint32_t from = narrow->rows / n_heads, columns = narrow->columns;
  if (from == to) return;
  Matrix padded{narrow->name, n_heads * to, columns, narrow->values, narrow->same_rows};
  if (!narrow->same_rows && !narrow->values.empty()) {
    const auto read = [narrow, from, to, n_heads] {
      const size_t width = narrow->columns;
      std::vector<float> values(size_t{n_heads} * to * width, 0.0f);
      for (uint32_t head = 0; head < n_heads; ++head)
        std::copy_n(narrow->row(head * from), from * width, values.data() + size_t{head} * to * width);
      narrow->values.release();
      return values;
    };
    padded.values = MatrixValues(size_t{padded.rows} * columns, read);
  }
  std::vector<float> bias(linear.bias.empty() ? 0 : padded.rows, 0.0f);
  for (size_t i = 0; i < linear.bias.size(); ++i) bias[i / from * to + i % from] = linear.bias[i];
  linear.weight = std::make_shared<const Matrix>(std::move(padded));
  linear.bias = std::move(bias);
}

// Does the same for the columns.
void pad_columns(LinearSpec& linear, uint32_t n_heads, uint32_t to) {
  const std::shared_ptr<const Matrix> narrow = linear.weight;
  const uint32_t from = narrow->columns / n_heads, columns = n_heads * to;
  if (from == to) return;
  const uint32_t stored_rows = narrow->values.empty() ? 0 : narrow->same_rows ? 1 : narrow->rows;
  const auto read = [narrow, from, to, columns, stored_rows] {
    std::vector<float> values(size_t{stored_rows} * columns, 0.0f);
    for (uint32_t row = 0; row < stored_rows; ++row) {
      const float* const stored = narrow->row(row);
      for (uint32_t c = 0; c < narrow->columns; ++c)
        values[size_t{row} * columns + size_t{c} / from * to + c % from] = stored[c];
    }
    narrow->values.release();
    return values;
  };
  linear.weight = std::make_shared<const Matrix>(Matrix{
      narrow->name, narrow->rows, columns, MatrixValues(size_t{stored_rows} * columns, read), narrow->same_rows});
}

}  // namespace

void pad_heads(AttentionSpec& attention, uint32_t n_heads, uint32_t d_head) {
  pad_rows(attention.query, n_heads, d_head);
  pad_rows(attention.key, n_heads, d_head);
  pad_rows(attention.value, n_heads, d_head);
  pad_columns(attention.out, n_heads, d_head);
}

}  // namespace goldcrest::converter
