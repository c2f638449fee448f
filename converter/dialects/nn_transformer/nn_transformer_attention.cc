// SPDX-License-Identifier: Apache-2.0
#include "dialects/nn_transformer/nn_transformer_attention.h"
#include <algorithm>
#include "base/bounds.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Returns the second size of a matrix, or `otherwise` if the matrix is missing.
uint32_t columns_or(const TensorReader& tensors, const std::string& name, uint32_t otherwise) {
  if (!tensors.has(name)) return otherwise;
  const std::vector<uint64_t> shape = tensors.shape(name);
  const bool fits = shape.size() == 2 && shape[1] > 0 && shape[1] <= kMaxWidth;
  return fits ? static_cast<uint32_t>(shape[1]) : otherwise;
}

uint32_t rows_or(const TensorReader& tensors, const std::string& name, uint32_t otherwise) {
  if (!tensors.has(name)) return otherwise;
  const std::vector<uint64_t> shape = tensors.shape(name);
  const bool fits = shape.size() == 2 && shape[0] > 0 && shape[0] <= size_t{3} * kMaxWidth;
  return fits ? static_cast<uint32_t>(shape[0]) : otherwise;
}

// MultiheadAttention stores the rows of query, key and value in a single matrix, or in three if keys and values have
// another width. `values`: rows of all heads.
void read_fused(TensorReader& tensors, const std::string& prefix, const AttentionInputs& inputs, uint32_t values,
    AttentionSpec& spec) {
  const uint32_t d = inputs.d_model;
  uint32_t keys = d;
  if (tensors.has(prefix + "q_proj_weight")) {
    keys = rows_or(tensors, prefix + "q_proj_weight", d);
    spec.query.weight = tensors.matrix(prefix + "q_proj_weight", keys, d);
    spec.key.weight = tensors.matrix(prefix + "k_proj_weight", keys, inputs.key_width);
    spec.value.weight = tensors.matrix(prefix + "v_proj_weight", values, inputs.key_width);
  } else {
    const uint32_t rows = rows_or(tensors, prefix + "in_proj_weight", 3 * d);
    const std::string bias = prefix + "in_proj_bias";
    const bool is_whole = !tensors.has(bias) || tensors.shape(bias) == std::vector<uint64_t>{rows};
    if (is_whole && rows > values && (rows - values) % 2 == 0) keys = (rows - values) / 2;
    const auto fused = tensors.matrix(prefix + "in_proj_weight", 2 * keys + values, inputs.key_width);
    if (inputs.key_width != d)
      throw Error("{}: keys are of width {}, expected {}", tensors.describe(fused->name), d, inputs.key_width);
    spec.query.weight = slice_rows(fused, 0, keys);
    spec.key.weight = slice_rows(fused, keys, 2 * keys);
    spec.value.weight = slice_rows(fused, 2 * keys, 2 * keys + values);
  }
  const uint32_t rows = 2 * keys + values;
  const std::vector<float> bias =
      inputs.has_bias ? tensors.vector(prefix + "in_proj_bias", rows) : std::vector<float>(rows, 0.0f);
  if (bias.empty()) return;
  const auto end_of_queries = bias.begin() + keys, end_of_keys = end_of_queries + keys;
  spec.query.bias.assign(bias.begin(), end_of_queries);
  spec.key.bias.assign(end_of_queries, end_of_keys);
  spec.value.bias.assign(end_of_keys, bias.end());
}
}  // namespace

bool has_attention_bias(const TensorReader& tensors, const LayerNames& names, const std::string& prefix) {
  const std::string inputs = names.query == nullptr ? "in_proj_bias" : names.query + std::string(".bias");
  return tensors.has(prefix + inputs) || tensors.has(prefix + names.attention_out + ".bias");
}

AttentionSpec read_attention(
    TensorReader& tensors, const LayerNames& names, const std::string& prefix, const AttentionInputs& inputs) {
  const uint32_t d = inputs.d_model, values = columns_or(tensors, prefix + names.attention_out + ".weight", d);
  if (tensors.has(prefix + "bias_k"))
    throw Error("{}: add_bias_kv=True is not supported", tensors.describe(prefix + "bias_k"));
  AttentionSpec spec;
  if (names.query == nullptr) {
    read_fused(tensors, prefix, inputs, values, spec);
  } else {
    const uint32_t keys = rows_or(tensors, prefix + names.query + ".weight", d);
    spec.query = tensors.linear(prefix + names.query, keys, d, inputs.has_bias);
    spec.key = tensors.linear(prefix + names.key, keys, inputs.key_width, inputs.has_bias);
    spec.value = tensors.linear(prefix + names.value, values, inputs.key_width, inputs.has_bias);
  }
  spec.out = tensors.linear(prefix + names.attention_out, d, values, inputs.has_bias);
  return spec;
}

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
