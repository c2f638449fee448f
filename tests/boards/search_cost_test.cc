// SPDX-License-Identifier: Apache-2.0
// On the board: a phoneme of the pronunciation model, encoder work included, stays within its limit of instructions.
// Instructions are counted, so the figure is the same in every run.
#include <cstdio>
#include <cstring>
#include "board_api.h"
#include "counted_work.h"
#include "instruction_count.h"
#include "model_g2p.h"

namespace goldcrest::test {
namespace {
struct Ceiling {
  const char* board;
  uint32_t beam_size, most;  // thousands of instructions
};
constexpr Ceiling kCeilings[] = {
    {"mps2-an500", 1, 1650},
    {"mps2-an500", 4, 2888},
    {"mps3-an547", 1, 306},
    {"mps3-an547", 4, 612},
    {"riscv-virt", 1, 3800},
    {"riscv-virt", 4, 6400},
};

const CountedModel kModel = {
    "pronunciation model", model_g2p, MODEL_G2P_BYTES, MODEL_G2P_LIMITS, kCountedWords, kNCountedWords};
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];
}  // namespace

bool passes() {
  if (!clock_counts_instructions()) return false;
  goldcrest_config config = {.model = kModel.file,
      .model_bytes = kModel.file_bytes,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = kModel.limits};
  goldcrest_engine* engine = nullptr;
  if (goldcrest_init(&engine, &config) < 0) return false;
  uint32_t n_checked = 0;
  bool holds = true;
  for (const Ceiling& ceiling : kCeilings) {
    if (std::strcmp(ceiling.board, board_name()) != 0) continue;
    SearchCost cost;
    if (search_all(engine, kModel, ceiling.beam_size, 0, &cost) < 0) return false;
    const auto found = static_cast<uint32_t>(cost.instructions / cost.tokens / 1000);
    const bool is_held = found <= ceiling.most;
    std::printf("beam %u: %u thousand instructions a phoneme, at most %u: %s\n",
        static_cast<unsigned>(ceiling.beam_size), static_cast<unsigned>(found), static_cast<unsigned>(ceiling.most),
        is_held ? "held" : "NOT HELD");
    holds &= is_held;
    ++n_checked;
  }
  return holds && n_checked > 0;
}
}  // namespace goldcrest::test
