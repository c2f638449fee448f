// SPDX-License-Identifier: Apache-2.0
// Counts instructions by the board's clock. QEMU must run with `-icount shift=0`, where one instruction is one
// nanosecond.
#pragma once

#include <cstdint>
#include <cstdio>
#include "board_api.h"

namespace goldcrest::test {
inline uint64_t instructions_since(uint64_t start_ticks) {
  return (board_ticks() - start_ticks) * 1000 / (board_ticks_per_second() / 1000000);
}

// Counts one call of `operation`; runs it several times, because the clock's ticks are coarse.
template <typename Operation> uint64_t instructions_of(Operation operation) {
  constexpr uint32_t kCalls = 8;
  const uint64_t start = board_ticks();
  for (uint32_t i = 0; i < kCalls; ++i) operation();
  return instructions_since(start) / kCalls;
}

// Returns whether a loop of known length takes that many instructions, and prints if it does not.
inline bool clock_counts_instructions() {
  constexpr uint32_t kTurns = 100000;
  const uint64_t start = board_ticks();
  uint32_t turns = kTurns;
#if defined(__riscv)
  asm volatile(
      "1:\n"
      "addi %0, %0, -1\n"
      "bnez %0, 1b\n"
      : "+r"(turns));
#else
  asm volatile(
      "1:\n"
      "subs %0, #1\n"
      "bne 1b\n"
      : "+l"(turns)
      :
      : "cc");
#endif
  const uint64_t found = instructions_since(start);
  if (found >= 2 * kTurns && found < 2 * kTurns + kTurns / 100) return true;
  std::printf("The clock does not count instructions; run QEMU with -icount shift=0.\n");
  return false;
}
}  // namespace goldcrest::test
