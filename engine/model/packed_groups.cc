// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "model/packed.h"

namespace goldcrest {
int32_t unpack_group(const PackedMatrix& matrix, uint32_t output, uint32_t group, int8_t* w) {
  const PackedBlock block = packed_block(matrix.layout);
  const uint8_t* const from = nibbles_of(matrix, output) + size_t{group} * 16 * block.outputs;
  const int32_t m = *matrix.multipliers_of(output, group * kPackedGroup);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t before = i & -block.inputs;  // bytes of earlier blocks
    const int32_t byte = from[i + 15 * before];
    w[i + before] = static_cast<int8_t>(m * (nibble_of(byte, 0) - 8));
    w[i + before + block.inputs] = static_cast<int8_t>(m * (nibble_of(byte, 1) - 8));
  }
  return m;
}
}  // namespace goldcrest
