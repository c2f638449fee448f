// SPDX-License-Identifier: Apache-2.0
// AArch64 with the dot product instructions (Armv8.2 and later, Raspberry Pi 5): SDOT over four outputs a register.
#include "base/exact_floats.h"

#include "kernels/arm/dotprod_vectors-inl.h"
#include "kernels/arm/widen_by_bits-inl.h"

namespace goldcrest {
namespace {
// A panel takes four of the 32 registers. For 1, 2, ... rows: the panels of a tile, and the accumulators that share a
// sum.
constexpr int kTilePanels[] = {2, 1, 1, 1, 1};
constexpr int kTileSplits[] = {1, 2, 1, 1, 1};
constexpr bool kFinishesTogether = false;
}  // namespace
}  // namespace goldcrest

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
namespace {
void linear_of_four_rows_or_others(const LinearArgs<int8_t>& args) {
  if (args.rows == 4 && args.layout == Layout::kN16K4) return linear_of_four_rows(args);
  linear(args);
}
constexpr auto linear_of_dotprod = linear_by_dots<linear_of_four_rows_or_others>;

void output_block_by_dots(const OutputBlockArgs<int8_t>& args) {
  linear_of_dotprod(args.linear);
  output_block_sums(args);
}

constexpr Kernels make_table() {
  Kernels table = make_vector_table<linear_of_dotprod>("arm_dotprod", kDotprodNeeds);
  table.linear_packed = linear_packed_rows<>;
  table.crc32c = crc32c_words;
  table.int8.output_block = output_block_by_dots;
  return table;
}
}  // namespace

extern const Kernels kernels_arm_dotprod;
constexpr Kernels kernels_arm_dotprod = for_this_build(make_table());
}  // namespace goldcrest
