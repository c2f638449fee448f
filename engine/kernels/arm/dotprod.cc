// SPDX-License-Identifier: Apache-2.0
// AArch64 with the dot product instructions (Armv8.2 and later, Raspberry Pi 5): SDOT over four outputs a register.
#include "base/exact_floats.h"
#include "kernels/arm/dotprod_vectors-inl.h"
#include "kernels/arm/widen_by_bits-inl.h"

namespace goldcrest { namespace {
// A panel takes four of the 32 registers. For 1, 2, ... rows: the panels of a tile, and the accumulators that share a
// sum.
constexpr int kTilePanels[] = {2, 1, 1, 1, 1};
constexpr int kTileSplits[] = {1, 2, 1, 1, 1};
constexpr bool kFinishesTogether = false;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_layer-inl.h"
#include "kernels/vector/tile-inl.h"
// These are written over the ones above.
// clang-format off
#include "kernels/arm/dotprod_linear-inl.h"
#include "kernels/arm/dotprod_four_rows-inl.h"
// clang-format on

namespace goldcrest {
void dotprod_attention(const AttentionArgs<int8_t>& args, Numbers numbers);  // arm_i8mm's too
void dotprod_attention(const AttentionArgs<int8_t>& args, Numbers numbers) {
  query_attention<CacheLevel::kFirst>(args, numbers);
}

namespace {
void linear_of_four_rows_or_others(const LinearArgs<int8_t>& args) {
  if (args.rows == 4 && args.layout == Layout::kN16K4) return linear_of_four_rows(args);
  linear(args);
}
constexpr auto linear_of_dotprod = linear_by_dots<linear_of_four_rows_or_others>;
}  // namespace

extern const Kernels kernels_arm_dotprod;
constexpr Kernels kernels_arm_dotprod =
    for_this_build(make_packed_table<linear_of_dotprod, dotprod_attention>("arm_dotprod", kDotprodNeeds));
}  // namespace goldcrest
