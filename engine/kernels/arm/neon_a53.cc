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
void neon_attention(const AttentionArgs<int8_t>& args, Numbers numbers);  // arm_neon's

extern const Kernels kernels_arm_neon_a53;
constexpr Kernels kernels_arm_neon_a53 =
    for_this_build(make_packed_table<linear_flat, neon_attention>("arm_neon_a53", kNeonNeeds));
}  // namespace goldcrest
