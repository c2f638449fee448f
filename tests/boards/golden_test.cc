// SPDX-License-Identifier: Apache-2.0
// On the board: the g2p model's self-test, and its golden hash over the first validation words, with every kernel
// table. The hash must be the host's.
#include <cinttypes>
#include <cstdio>
#include "board_api.h"
#include "boards/golden_run.h"
#include "boards/instruction_count.h"

namespace goldcrest::test {
namespace {
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_GOLDEN_ARENA_BYTES];

// Returns whether self-test and hash are right with one kernel table.
bool passes(const char* kernels, uint64_t expected) {
  GoldenRun run;
  int status = run.start(arena, kernels, GOLDCREST_STEP_POSITION);
  const uint64_t start = board_ticks();
  while (status >= 0 && status != GOLDCREST_DONE) status = run.step();
  if (status < 0) return run.report(status);
  const uint64_t instructions = instructions_since(start);
  const double seconds = static_cast<double>(board_ticks() - start) / board_ticks_per_second();
  std::printf("%-16s %u words, %u tokens, %.1f s, hash %08" PRIx32 "%08" PRIx32 " %s\n", kernels,
      static_cast<unsigned>(run.n_words()), static_cast<unsigned>(run.n_tokens()), seconds,
      static_cast<uint32_t>(run.hash() >> 32), static_cast<uint32_t>(run.hash()),
      run.hash() == expected ? "same" : "DIFFERENT");
  std::printf("%-16s %u instructions a token, encoder included, where the clock counts them (-icount shift=0)\n",
      kernels, static_cast<unsigned>(instructions / run.n_tokens()));
  return run.hash() == expected;
}
}  // namespace

bool passes() {
  const uint64_t expected = expected_golden_hash();
  bool all_pass = expected != 0 && goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; i < GOLDCREST_GOLDEN_TABLES && goldcrest_kernels_at(i) != nullptr; ++i)
    all_pass &= passes(goldcrest_kernels_at(i), expected);
  return all_pass;
}
}  // namespace goldcrest::test
