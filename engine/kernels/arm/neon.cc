// SPDX-License-Identifier: Apache-2.0
// AArch64 without dot product instructions (Raspberry Pi 4).
// The order matters: the vectors first, then the code that is written over them.
// clang-format off
#include "base/exact_floats.h"

#include "kernels/arm/neon_products_aarch64-inl.h"
#include "kernels/arm/widen_by_conversion-inl.h"
#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/shared_layer-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/arm/neon_by_fours-inl.h"
// clang-format on

namespace goldcrest {
void neon_attention(const AttentionArgs<int8_t>& args, Numbers numbers);  // arm_neon_a53's too
void neon_attention(const AttentionArgs<int8_t>& args, Numbers numbers) {
  query_attention<CacheLevel::kFirst>(args, numbers);
}

extern const Kernels kernels_arm_neon;
constexpr Kernels kernels_arm_neon =
    for_this_build(make_packed_table<linear_by_fours, neon_attention>("arm_neon", kNeonNeeds));
}  // namespace goldcrest
