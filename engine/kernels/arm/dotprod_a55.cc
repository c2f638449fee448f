// SPDX-License-Identifier: Apache-2.0
// AArch64 with the dot product instructions on cores that issue two instructions a cycle in order (Cortex-A55). It is
// arm_dotprod with hand-ordered instructions for the products.
#include "base/exact_floats.h"
#include "kernels/arm/dotprod_vectors-inl.h"
#include "kernels/arm/widen_by_conversion-inl.h"

namespace goldcrest { namespace {
// For 1, 2, ... rows: the panels of a tile, and the accumulators that share a sum.
constexpr int kTilePanels[] = {1, 1, 1, 1};
constexpr int kTileSplits[] = {1, 1, 1, 1};
constexpr bool kFinishesTogether = false;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_layer-inl.h"

// The order matters: the vectors first, then the code that is written over them.
#include "kernels/arm/in_order-inl.h"
// This is written over the one above.
#include "kernels/arm/dotprod_tile_a55-inl.h"

namespace goldcrest {
extern const Kernels kernels_arm_dotprod_a55;
constexpr Kernels kernels_arm_dotprod_a55 =
    for_this_build(make_packed_table<linear_flat>("arm_dotprod_a55", kDotprodNeeds));
}  // namespace goldcrest
