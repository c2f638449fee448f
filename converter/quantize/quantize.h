// SPDX-License-Identifier: Apache-2.0
// Converts float tensors to the numbers of the file (FORMAT.md, "Arrays"): int8 rows with a scale each, checked floats,
// padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "base/align.h"
#include "model/model_view.h"
#include "model/packed.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Maps the elements of one dimension to places: each of n_groups groups of `group` elements takes `placed_group`
// places.
struct Placement {
  uint32_t n_groups = 0, group = 0, placed_group = 0;

  // Puts element i at place i.
  static Placement in_order(uint32_t n) { return {1, n, n}; }
  // Pads each head separately (FORMAT.md, "Heads").
  static Placement per_head(uint32_t n_heads, uint32_t d_head) { return {n_heads, d_head, pad16(d_head)}; }

  uint32_t placed_size() const { return n_groups * placed_group; }
  uint32_t place(uint32_t i) const { return i / group * placed_group + i % group; }
};

// w[r, c] is about weights[r, c] * scale[r]. Rows and columns are multiples of 16. A second matrix, if there is one,
// has its rows after those of the first, and its products are added: it quantizes what the first one leaves.
struct QuantizedMatrix {
  uint32_t rows = 0, columns = 0;
  bool has_second = false;
  std::vector<int8_t> weights;      // [stored_rows, columns], 0 in padding
  std::vector<float> scale;         // [stored_rows], 1 in padding
  std::vector<int32_t> weight_sum;  // [stored_rows], the sum of each row of weights
  std::vector<int8_t> multipliers;  // a packed matrix's, as in the file; empty: not packed

  // All padding. n and k are the dimensions before padding.
  QuantizedMatrix(uint32_t n, uint32_t k, bool second = false);

  uint32_t stored_rows() const { return has_second ? 2 * rows : rows; }
  // Returns the bytes for each of `rows`: of a table, weights and scales; of a linear layer, also sums and the bias.
  uint64_t row_bytes() const {
    if (!multipliers.empty()) return packed_bytes(1, columns) + sizeof(float);
    return uint64_t{has_second ? 2u : 1u} * (columns + sizeof(float));
  }
  uint64_t linear_row_bytes() const { return row_bytes() + (has_second ? 2 : 1) * sizeof(int32_t) + sizeof(float); }
};

constexpr float kSmallestRow = 0x1p-40f;  // a row of smaller magnitudes is all zeros
// Returns the largest magnitude of row r. Throws Error for a value that is not finite.
float largest_magnitude(const Matrix& matrix, uint32_t r);
// Returns the scale of row r. Throws Error if it is too large; amax: the row's largest magnitude.
float checked_scale(float scale, const Matrix& matrix, uint32_t r, float amax);

// Quantizes row r of `matrix` to row first_row + row_placement.place(r) of `quantized`; stored integers and scales do
// not change. Returns the signal-to-quantization-noise ratio in dB, infinite if nothing was lost. Throws Error with the
// tensor's name and the row for values that are not finite or too large.
double quantize_rows(const Matrix& matrix, const Placement& row_placement, const Placement& column_placement,
    uint32_t first_row, QuantizedMatrix& quantized);

// A matrix that stays float. Rows and columns are multiples of 16.
struct FloatMatrix {
  uint32_t rows = 0, columns = 0;
  std::vector<float> weights;  // [rows, columns], 0 in padding

  // All padding. The arguments are the dimensions before padding.
  FloatMatrix(uint32_t n, uint32_t k);
};

// Copies row r of `matrix` to row first_row + row_placement.place(r) of `copied`, each value as copy_floats does.
void copy_rows(const Matrix& matrix, const Placement& row_placement, const Placement& column_placement,
    uint32_t first_row, FloatMatrix& copied);

// The same two for values that are read for each use: releases them, so that only one matrix is in memory at a time.
// Returns the ratio, or none if nothing is quantized.
class RowPacker;
struct PlacedRows {
  Placement rows, columns;
  uint32_t first_row;
  const RowPacker* packer = nullptr;  // quantizes the rows of a packed matrix
};
std::optional<double> store_rows(const Matrix& matrix, const PlacedRows& to, QuantizedMatrix& stored);
std::optional<double> store_rows(const Matrix& matrix, const PlacedRows& to, FloatMatrix& stored);

// Copies values that stay float (biases, gammas, betas, positions) to their places in `placed`. Magnitudes below 2^-60
// become 0. Throws Error with `name` and the index if a value is above 2^16 or not finite.
void copy_floats(std::span<const float> values, const Placement& placement, const std::string& name, float* placed);

// The order of a padded int8 matrix's elements in the file (FORMAT.md, "Tensor layouts").

// The layout that the kernels of `cpu` stream fastest; every layout runs everywhere. Throws Error for an unknown name.
Layout layout_for_cpu(std::string_view cpu);

// Packs row-major `weights` into `layout`. Both dimensions are multiples of 16.
std::vector<int8_t> pack(std::span<const int8_t> weights, uint32_t rows, uint32_t columns, Layout layout);

// Unpacks from `layout` to row-major, the inverse of pack.
std::vector<int8_t> unpack(std::span<const int8_t> packed, uint32_t rows, uint32_t columns, Layout layout);
}  // namespace goldcrest::converter
