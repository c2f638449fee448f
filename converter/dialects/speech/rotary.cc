// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>
#include "base/align.h"
#include "dialects/speech/parts.h"
#include "math/deterministic_math.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kNone = UINT32_MAX;

// For each place of a head in the file's form, the checkpoint's column, or kNone.
std::vector<uint32_t> turning_columns(const InterleavedRotary& rotary) {
  const uint32_t half = pad16(rotary.turned / 2);
  std::vector<uint32_t> columns(halved_width(rotary), kNone);
  for (uint32_t i = 0; i < rotary.turned / 2; ++i) {
    columns[i] = 2 * i;
    columns[half + i] = 2 * i + 1;
  }
  uint32_t next = rotary.turned;
  for (uint32_t& column : columns)
    if (column == kNone && next < rotary.d_head) column = next++;
  return columns;
}

std::vector<uint32_t> widened_columns(const InterleavedRotary& rotary) {
  std::vector<uint32_t> columns(halved_width(rotary), kNone);
  for (uint32_t i = 0; i < rotary.d_head; ++i) columns[i] = i;
  return columns;
}

// For each place of all heads, the checkpoint's index, or kNone.
std::vector<uint32_t> of_all_heads(const std::vector<uint32_t>& columns, uint32_t n_heads, uint32_t d_head) {
  std::vector<uint32_t> all;
  for (uint32_t head = 0; head < n_heads; ++head)
    for (const uint32_t column : columns) all.push_back(column == kNone ? kNone : head * d_head + column);
  return all;
}

// Row r of the result is row from[r] of `linear`, or zeros.
LinearSpec placed_rows(const LinearSpec& linear, const std::vector<uint32_t>& from) {
  const std::shared_ptr<const Matrix> whole = linear.weight;
  const auto rows = static_cast<uint32_t>(from.size());
  Matrix placed{whole->name, rows, whole->columns, whole->values, whole->same_rows};
  if (!whole->same_rows && !whole->values.empty()) {
    const size_t width = whole->columns;
    const auto read = [whole, from, width] {
      std::vector<float> values(from.size() * width, 0.0f);
      for (size_t r = 0; r < from.size(); ++r)
        if (from[r] != kNone) std::copy_n(whole->row(from[r]), width, &values[r * width]);
      whole->values.release();
      return values;
    };
    placed.values = MatrixValues(from.size() * width, read);
  }
  LinearSpec out;
  for (const uint32_t r : from) {
    if (!whole->stored_scale.empty()) placed.stored_scale.push_back(r == kNone ? 1.0f : whole->stored_scale[r]);
    if (!linear.bias.empty()) out.bias.push_back(r == kNone ? 0.0f : linear.bias[r]);
  }
  out.weight = std::make_shared<const Matrix>(std::move(placed));
  return out;
}

// Column c of the result is column from[c] of `linear`, or zeros.
LinearSpec placed_columns(const LinearSpec& linear, const std::vector<uint32_t>& from) {
  const std::shared_ptr<const Matrix> whole = linear.weight;
  const uint32_t stored_rows = whole->values.empty() ? 0 : whole->same_rows ? 1 : whole->rows;
  const size_t n = size_t{stored_rows} * from.size();
  const auto read = [whole, from, stored_rows] {
    std::vector<float> values;
    for (uint32_t r = 0; r < stored_rows; ++r)
      for (const uint32_t c : from) values.push_back(c == kNone ? 0.0f : whole->row(r)[c]);
    whole->values.release();
    return values;
  };
  const auto columns = static_cast<uint32_t>(from.size());
  return {std::make_shared<const Matrix>(
              Matrix{whole->name, whole->rows, columns, MatrixValues(n, read), whole->same_rows, whole->stored_scale}),
      linear.bias};
}
}  // namespace

uint32_t halved_width(const InterleavedRotary& rotary) { return std::max(rotary.d_head, 2 * pad16(rotary.turned / 2)); }

void halve_pairs(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention) {
  const std::vector<uint32_t> rows = of_all_heads(turning_columns(rotary), n_heads, rotary.d_head);
  const std::vector<uint32_t> widened = of_all_heads(widened_columns(rotary), n_heads, rotary.d_head);
  attention.query = placed_rows(attention.query, rows);
  attention.key = placed_rows(attention.key, rows);
  attention.value = placed_rows(attention.value, widened);
  attention.out = placed_columns(attention.out, widened);
}

void widen_heads(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention) {
  const std::vector<uint32_t> widened = of_all_heads(widened_columns(rotary), n_heads, rotary.d_head);
  for (LinearSpec* linear : {&attention.query, &attention.key, &attention.value})
    *linear = placed_rows(*linear, widened);
  attention.out = placed_columns(attention.out, widened);
}

RotarySpec halved_rotary(const InterleavedRotary& rotary, uint32_t positions) {
  const uint32_t pairs = rotary.turned / 2, half = pad16(pairs);
  const double log_base = exact_log(rotary.base);
  std::vector<float> values;
  for (uint32_t position = 0; position < positions; ++position) {
    for (const bool is_sine : {false, true}) {
      for (uint32_t i = 0; i < half; ++i) {
        const double angle = position * exact_exp(-2.0 * i / rotary.turned * log_base);
        values.push_back(
            i >= pairs ? (is_sine ? 0.0f : 1.0f) : static_cast<float>(is_sine ? exact_sin(angle) : exact_cos(angle)));
      }
    }
  }
  return {{"rotary positions", positions, 2 * half, std::move(values)}, half};
}
}  // namespace goldcrest::converter
