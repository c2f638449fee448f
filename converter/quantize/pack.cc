// SPDX-License-Identifier: Apache-2.0
// A packed matrix is panels of outputs; a panel is 64-byte blocks of some outputs by some inputs.
#include "quantize/pack.h"

#include <cassert>
#include <cstring>

#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// The contents of one 64-byte block. In the row-major layout a panel is one whole row.
struct Block {
  uint32_t outputs, inputs;
};

Block block_of(Layout layout, uint32_t columns) {
  switch (layout) {
    case Layout::kRowMajor:
      return {1, columns};
    case Layout::kN16K4:
      return {16, 4};
    case Layout::kN4K16:
      return {4, 16};
  }
  throw Error("layout {} is unknown; this version knows RowMajor, N16K4 and N4K16", static_cast<int>(layout));
}

// Calls move(row-major offset, packed offset, bytes) for every run of consecutive inputs, in packed order.
template <typename Move>
void for_each_run(uint32_t rows, uint32_t columns, Layout layout, Move move) {
  assert(rows % 16 == 0 && columns % 16 == 0);
  const Block block = block_of(layout, columns);
  size_t packed = 0;
  for (size_t panel = 0; panel < rows; panel += block.outputs) {
    for (size_t column = 0; column < columns; column += block.inputs) {
      for (size_t row = panel; row < panel + block.outputs; ++row, packed += block.inputs) {
        move(row * columns + column, packed, block.inputs);
      }
    }
  }
}

}  // namespace

Layout layout_for_cpu(std::string_view cpu) {
  // Cortex-A of any number. M-profile cores differ in whether they have Helium.
  if (cpu.starts_with("cortex-a") && cpu.size() > std::string_view("cortex-a").size()) return Layout::kN16K4;
  for (const std::string_view name : {"generic", "x86", "cortex-m4", "cortex-m7", "cortex-m33"}) {
    if (cpu == name) return Layout::kN16K4;
  }
  for (const std::string_view name : {"cortex-m55", "cortex-m85"}) {
    if (cpu == name) return Layout::kN4K16;
  }
  throw Error(
      "unknown CPU '{}'; expected generic, x86, cortex-a followed by a number, cortex-m4, cortex-m7, cortex-m33, "
      "cortex-m55 or cortex-m85{}",
      cpu, guess(cpu, {"generic", "x86", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85"}));
}

std::vector<int8_t> pack(std::span<const int8_t> weights, uint32_t rows, uint32_t columns, Layout layout) {
  assert(weights.size() == size_t{rows} * columns);
  std::vector<int8_t> packed(weights.size());
  for_each_run(rows, columns, layout,
               [&](size_t from, size_t to, size_t n) { std::memcpy(&packed[to], &weights[from], n); });
  return packed;
}

std::vector<int8_t> unpack(std::span<const int8_t> packed, uint32_t rows, uint32_t columns, Layout layout) {
  assert(packed.size() == size_t{rows} * columns);
  std::vector<int8_t> weights(packed.size());
  for_each_run(rows, columns, layout,
               [&](size_t to, size_t from, size_t n) { std::memcpy(&weights[to], &packed[from], n); });
  return weights;
}

}  // namespace goldcrest::converter
