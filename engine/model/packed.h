// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a packed matrix are (FORMAT.md, "Packed weights"). Its int8 weight w[j, k] is the multiplier of
// output j and of 32 inputs, times nibble - 8.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "model/linear_view.h"

namespace goldcrest {
constexpr uint32_t kPackedGroup = 32;       // inputs with one multiplier
constexpr uint32_t kExpandedBytes = 32768;  // on a host's stack
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

  [[gnu::always_inline]] const int8_t* multipliers_of(uint32_t output, uint32_t input) const {
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
[[gnu::always_inline]] inline const uint8_t* nibbles_of(const PackedMatrix& matrix, uint32_t output) {
  const PackedBlock block = packed_block(matrix.layout);
  const uint32_t in_block = output & (block.outputs - 1);
  return matrix.nibbles + nibble_bytes(output - in_block, matrix.k) + in_block * block.inputs;
}

struct PackedRange {
  uint32_t first, count;
};

// to <- the int8 weights of these outputs and inputs, in the matrix' own layout, kN16K4 or kN4K16. Both begin with a
// multiple of 16 or 32. Four nibbles of an output are multiplied and added to as one number: each of its bytes becomes
// w + 128, which is 8 to 248, so none carries into the next. These vectors of GCC and clang run on any CPU.
[[gnu::always_inline]] inline void expand(
    const PackedMatrix& matrix, PackedRange outputs, PackedRange inputs, int8_t* to) {
  using Fours = uint32_t __attribute__((vector_size(64)));
  using Halves = int16_t __attribute__((vector_size(32)));
  using Bytes = int8_t __attribute__((vector_size(16)));
  const PackedBlock block = packed_block(matrix.layout);
  const uint32_t end = inputs.first + inputs.count;
  for (uint32_t output = outputs.first; output < outputs.first + outputs.count; output += block.outputs) {
    const uint8_t* from = nibbles_of(matrix, output) + inputs.first * block.outputs / 2;
    for (uint32_t group = inputs.first; group < end; group += kPackedGroup) {
      const int8_t* const m = matrix.multipliers_of(output, group);
      Bytes of_fours;
      if (block.outputs == 16) memcpy(&of_fours, m, sizeof of_fours);
      else
        of_fours =
            Bytes{m[0], m[0], m[0], m[0], m[1], m[1], m[1], m[1], m[2], m[2], m[2], m[2], m[3], m[3], m[3], m[3]};
      // GCC scalarizes a conversion in one step.
      const Fours multiplier = __builtin_convertvector(__builtin_convertvector(of_fours, Halves), Fours);
      const Fours start = (128 - 8 * multiplier) * 0x01010101u;
      const auto expand_block = [&](uint32_t shift) {
        Fours fours;
        memcpy(&fours, from, sizeof fours);
        fours = ((fours >> shift & 0x0f0f0f0f) * multiplier + start) ^ 0x80808080u;
        memcpy(to, &fours, sizeof fours);
        to += sizeof fours;
      };
      const uint32_t group_end = end - group < kPackedGroup ? end : group + kPackedGroup;
      for (uint32_t input = group; input < group_end; input += 2 * block.inputs, from += 64) {
        expand_block(0);
        if (input + block.inputs < group_end) expand_block(4);  // not the last 16 inputs of N4K16
      }
    }
  }
}

// w [kPackedGroup] <- the int8 weights of an output and a group of inputs, padding too. Returns their multiplier.
int32_t unpack_group(const PackedMatrix& matrix, uint32_t output, uint32_t group, int8_t* w);
}  // namespace goldcrest
