// SPDX-License-Identifier: Apache-2.0
// Quantizes float rows to weights of 4 bits (FORMAT.md, "Packed weights"), so that errors of a row's weights cancel in
// its products with the inputs that were seen (GPTQ: Frantar et al. 2022; then by coordinate descent).
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include "quantize/quantize.h"

namespace goldcrest::converter {
class RowPacker {
 public:
  // products: X^T X of the inputs, [k, k] before placement; empty: nothing is known, and all inputs weigh the same.
  RowPacker(std::span<const float> products, const Placement& columns);

  // Does what quantize_rows does, for a packed matrix.
  double pack_rows(const Matrix& matrix, const Placement& rows, uint32_t first_row, QuantizedMatrix& packed) const;
 private:
  struct Rows;

  // Chooses multipliers and rounds one input after the other; later ones take over its error.
  void round_in_order(Rows& rows) const;
  // Rounds each weight again, in a few passes, so that the errors of all others cost least.
  void round_again(Rows& rows) const;
  float choose_scale(const std::vector<float>& row, float amax) const;

  Placement columns_;
  uint32_t k_;  // after placement, padded to whole groups
  // [k_]: what the square of a weight's rounding costs, if later ones take over their share
  std::vector<float> cost_;
  std::vector<double> products_;  // [k_, k_], placed, of mean diagonal 1 and damped; empty: nothing is known
  // [k_, k_], above the diagonal: the share of an error of input i that input j > i takes over; empty: none
  std::vector<double> shares_;
};

// Returns the bytes of a packed matrix: nibbles, then multipliers.
std::vector<uint8_t> pack_nibbles(const QuantizedMatrix& matrix, Layout layout);
// Returns the int8 weights of a packed matrix, [rows, columns], and its multipliers.
QuantizedMatrix unpack_nibbles(std::span<const uint8_t> packed, uint32_t rows, uint32_t columns, Layout layout);
}  // namespace goldcrest::converter
