// SPDX-License-Identifier: Apache-2.0
// On the board: the linear slot reaches its floor of multiply-accumulates an instruction. Instructions are counted, so
// the figure is the same in every run.
#include <cstdio>
#include <cstring>
#include "board_api.h"
#include "counted_work.h"
#include "instruction_count.h"

namespace goldcrest::test {
namespace {
struct Floor {
  const char* board;
  const char* kernels;
  Layout layout;
  uint32_t rows, k;
  double least;
};
constexpr Floor kFloors[] = {
    {"mps2-an386", "cortexm_dsp", Layout::kN16K4, 1, 128, 0.70},
    {"mps2-an500", "cortexm_dsp", Layout::kN16K4, 1, 128, 0.70},
    {"mps2-an500", "cortexm_dsp", Layout::kN16K4, 4, 128, 1.10},
    {"mps2-an505", "cortexm_dsp", Layout::kN16K4, 1, 128, 0.70},
    {"mps3-an547", "cortexm_helium", Layout::kN4K16, 1, 128, 4.0},
    {"mps3-an547", "cortexm_helium", Layout::kN4K16, 1, 512, 5.5},
    {"riscv-virt", "riscv_scalar", Layout::kN16K4, 1, 128, 0.28},
    {"riscv-virt", "riscv_scalar", Layout::kN16K4, 2, 128, 0.40},
    {"riscv-virt", "riscv_scalar", Layout::kN16K4, 4, 128, 0.45},
};
}  // namespace

bool passes() {
  if (!clock_counts_instructions()) return false;
  fill_operands();
  uint32_t n_checked = 0;
  bool passes = true;
  for (const Floor& floor : kFloors) {
    if (std::strcmp(floor.board, board_name()) != 0) continue;
    const Kernels* table = select_kernels(floor.kernels);
    if (table == nullptr) return false;
    const double found = linear_rate(*table, floor.rows, floor.k, floor.layout);
    const bool reached = found >= floor.least;
    std::printf("%s: rows = %u, k = %u: %.3f multiply-accumulates an instruction, at least %.2f: %s\n", floor.kernels,
        static_cast<unsigned>(floor.rows), static_cast<unsigned>(floor.k), found, floor.least,
        reached ? "reached" : "NOT REACHED");
    passes &= reached;
    ++n_checked;
  }
  return passes && n_checked > 0;
}
}  // namespace goldcrest::test
