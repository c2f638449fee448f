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
namespace {
void output_block_by_fours(const OutputBlockArgs<int8_t>& args) {
  linear_by_fours(args.linear);
  output_block_sums(args);
}

constexpr Kernels make_table() {
  Kernels table = make_vector_table<linear_by_fours>("arm_neon", kNeonNeeds);
  table.linear_packed = linear_packed_rows<>;
  table.crc32c = crc32c_words;
  table.int8.output_block = output_block_by_fours;
  return table;
}
}  // namespace

extern const Kernels kernels_arm_neon;
constexpr Kernels kernels_arm_neon = for_this_build(make_table());
}  // namespace goldcrest
