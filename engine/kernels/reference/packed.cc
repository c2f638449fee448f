// SPDX-License-Identifier: Apache-2.0
// Multiplies packed weights by any table's int8 product: expands them piece by piece.
#include "base/exact_floats.h"
#include <string.h>
#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
// The sum of this many products is exact as a float: 120 * 127 * 1024 < 2^24.
constexpr uint32_t kPieceInputs = 1024;
constexpr uint32_t kPieceRows = 4;

void skip_rows(LinearArgs<int8_t>& args, uint32_t rows) {
  args.x += size_t{rows} * args.k;
  args.x_scale += rows;
  args.y += rows * args.y_stride;
  if (args.residual != nullptr) args.residual += rows * args.y_stride;
}

// Adds the products of at most kPieceRows rows with 16 outputs' weights of some inputs, which were expanded to `piece`.
void add_piece(const Kernels& table, const LinearArgs<int8_t>& args, uint32_t first_input,
    const LinearArgs<int8_t>& piece, int32_t* sums) {
  static constexpr float kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, kZeros[16] = {};
  alignas(64) int8_t x[kPieceRows * kPieceInputs];
  alignas(64) float products[kPieceRows * 16];
  LinearArgs<int8_t> part = piece;
  for (uint32_t row = 0; row < args.rows; ++row)
    memcpy(x + row * part.k, args.x + size_t{row} * args.k + first_input, part.k);
  part.x = x;
  part.x_scale = part.w_scale = kOnes;
  part.bias = kZeros;
  part.y = products;
  part.y_stride = 16;
  table.int8.linear(part);
  for (uint32_t i = 0; i < args.rows * 16; ++i) sums[i] += static_cast<int32_t>(products[i]);
}

// Computes 16 outputs of at most kPieceRows rows, some inputs at a time.
void linear_by_inputs(
    const Kernels& table, const LinearArgs<int8_t>& args, const PackedMatrix& matrix, int8_t* buffer) {
  int32_t sums[kPieceRows * 16] = {}, weight_sum[16];
  for (uint32_t first = 0; first < args.k; first += kPieceInputs) {
    LinearArgs<int8_t> piece = args;
    piece.multipliers = nullptr;
    piece.residual = nullptr;
    piece.activation = Activation::kNone;
    piece.k = smaller(args.k - first, kPieceInputs);
    expand(matrix, {0, 16}, {first, piece.k}, buffer);
    for (uint32_t output = 0; output < 16; ++output) {
      weight_sum[output] = 0;
      for (uint32_t i = 0; i < piece.k; ++i)
        weight_sum[output] += buffer[weight_offset(args.layout, output, i, piece.k)];
    }
    piece.w = buffer;
    piece.weight_sum = weight_sum;
    add_piece(table, args, first, piece, sums);
  }
  for (uint32_t row = 0; row < args.rows; ++row) {
    for (uint32_t j = 0; j < 16; ++j) {
      const float y = static_cast<float>(sums[row * 16 + j]) * (args.x_scale[row] * args.w_scale[j]) + args.bias[j];
      const size_t at = row * args.y_stride + j;
      const float activated = reference_activate(args.activation, y);
      args.y[at] = args.residual != nullptr ? activated + args.residual[at] : activated;
    }
  }
}

// Computes the first `n` outputs: all rows at once if a piece holds their weights.
void linear_piece(const Kernels& table, LinearArgs<int8_t> args, uint32_t n) {
  alignas(64) int8_t buffer[kExpandedBytes];
  const PackedMatrix matrix = {reinterpret_cast<const uint8_t*>(args.w), args.multipliers, n, args.k, args.layout};
  args.n = n;
  args.shared = nullptr;
  if (size_t{n} * args.k <= kExpandedBytes) {
    expand(matrix, {0, n}, {0, args.k}, buffer);
    args.w = buffer;
    args.multipliers = nullptr;
    return table.int8.linear(args);
  }
  const uint32_t rows = args.rows;
  for (uint32_t row = 0; row < rows; row += kPieceRows) {
    args.rows = smaller(rows - row, kPieceRows);
    linear_by_inputs(table, args, matrix, buffer);
    skip_rows(args, args.rows);
  }
}
}  // namespace

bool runs_packed() { return kHasPacked; }

void skip_any_outputs(LinearArgs<int8_t>& args, uint32_t n) {
  if (args.is_packed()) {
    args.w += nibble_bytes(n, args.k);
    args.multipliers += size_t{n} * packed_groups(args.k);
  } else {
    args.w += size_t{n} * args.k;
  }
  args.w_scale += n;
  args.weight_sum += n;
}

void linear_packed(const Kernels& table, const LinearArgs<int8_t>& args) {
  if (!kExpandsPacked) return table.int8.linear(args);
  const bool is_small = args.rows <= kMostPackedRows && args.k <= kMostPackedInputs && args.layout == Layout::kN16K4;
  if (table.linear_packed != nullptr && is_small) return table.linear_packed(args);
  LinearArgs<int8_t> part = args;
  const uint32_t whole = kExpandedBytes / args.k / 16 * 16, most = whole > 16 ? whole : 16;
  for (uint32_t first = 0; first < args.n; first += most) {
    const uint32_t n = smaller(args.n - first, most);
    linear_piece(table, part, n);
    skip_outputs(part, n);
    part.bias += n;
    part.y += n;
    if (part.residual != nullptr) part.residual += n;
  }
}
}  // namespace goldcrest
