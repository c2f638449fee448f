// SPDX-License-Identifier: Apache-2.0
// AArch64 without dot product instructions on cores that issue two instructions a cycle in order (Cortex-A53: Raspberry
// Pi 3, Zero 2 W). It is arm_neon with hand-ordered instructions for the products.
// The order matters: the vectors first, then the code that is written over them.
// clang-format off
#include "base/exact_floats.h"

#include "kernels/arm/neon_products_aarch64-inl.h"
#include "kernels/arm/widen_by_conversion-inl.h"
#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/shared_layer-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/arm/in_order-inl.h"
#include "kernels/arm/neon_tile_a53-inl.h"
// clang-format on

namespace goldcrest {
namespace {
constexpr Kernels make_table() {
  Kernels table = make_vector_table<linear_flat>("arm_neon_a53", kNeonNeeds);
  table.linear_packed = linear_packed_rows<>;
  table.crc32c = crc32c_words;
  table.int8.output_block = output_block_flat;
  return table;
}
}  // namespace

extern const Kernels kernels_arm_neon_a53;
constexpr Kernels kernels_arm_neon_a53 = for_this_build(make_table());
}  // namespace goldcrest
