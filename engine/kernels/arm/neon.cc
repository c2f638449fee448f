// SPDX-License-Identifier: Apache-2.0
// AArch64 without dot product instructions (Raspberry Pi 4).
// The order matters: the vectors first, then the code that is written over them.
// clang-format off
#include "base/exact_floats.h"

#include "kernels/arm/neon_products_aarch64-inl.h"
#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/tile-inl.h"
// clang-format on

namespace goldcrest {
namespace {

constexpr Kernels make_table() {
  Kernels table = make_vector_table<linear>("arm_neon", kNeonNeeds);
  table.crc32c = crc32c_words;
  return table;
}

}  // namespace

extern const Kernels kernels_arm_neon;
constexpr Kernels kernels_arm_neon = make_table();

}  // namespace goldcrest
