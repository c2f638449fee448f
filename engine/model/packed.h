// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a packed matrix are (FORMAT.md, "Packed weights"). Its int8 weight w[j, k] is the multiplier of
// output j and of 32 inputs, times nibble - 8.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "model/linear_view.h"

namespace goldcrest {
constexpr uint32_t kPackedGroup = 32;  // inputs with one multiplier
constexpr int32_t kMostMultiplier = 15;

[[gnu::always_inline]] constexpr uint32_t packed_groups(uint32_t k) { return (k + kPackedGroup - 1) / kPackedGroup; }
// Returns the bytes of n rows: of their nibbles; of nibbles and multipliers. n % 16 == 0
[[gnu::always_inline]] constexpr size_t nibble_bytes(size_t n, uint32_t k) { return n * packed_groups(k) * 16; }
constexpr uint32_t packed_row_bytes(uint32_t k) { return packed_groups(k) * 17; }
constexpr uint64_t packed_bytes(uint64_t n, uint32_t k) { return n * packed_row_bytes(k); }

struct PackedMatrix {
  const uint8_t* nibbles;     // [n, k] in `layout`
  const int8_t* multipliers;  // [n / 16, groups, 16]
  uint32_t n, k;              // multiples of 16
  Layout layout;

  const int8_t* multipliers_of(uint32_t output, uint32_t input) const {
    return multipliers + (size_t{output / 16} * packed_groups(k) + input / kPackedGroup) * 16 + output % 16;
  }
};

// Low nibbles of `outputs` rows of `inputs` bytes are what the int8 layout has there, high nibbles what it has next.
struct PackedBlock {
  uint32_t outputs, inputs;
};
[[gnu::always_inline]] constexpr PackedBlock packed_block(Layout layout) {
  return layout == Layout::kN16K4   ? PackedBlock{16, 4}
         : layout == Layout::kN4K16 ? PackedBlock{4, 16}
                                    : PackedBlock{1, 16};
}

[[gnu::always_inline]] constexpr int32_t nibble_of(int32_t byte, uint32_t high) { return byte >> 4 * high & 15; }

// Returns the first byte of an output.
inline const uint8_t* nibbles_of(const PackedMatrix& matrix, uint32_t output) {
  const PackedBlock block = packed_block(matrix.layout);
  const uint32_t in_block = output & (block.outputs - 1);
  return matrix.nibbles + nibble_bytes(output - in_block, matrix.k) + in_block * block.inputs;
}

// w [kPackedGroup] <- the int8 weights of an output and a group of inputs, padding too. Returns their multiplier.
int32_t unpack_group(const PackedMatrix& matrix, uint32_t output, uint32_t group, int8_t* w);
}  // namespace goldcrest
