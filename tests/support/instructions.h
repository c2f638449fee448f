// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of a call, in programs that run in QEMU with the plugin instruction_counter.cc.
#pragma once

#include <cstdint>
#include <functional>

namespace goldcrest::test {
// Numbers of system calls that do not exist. A program makes them to tell the plugin what to count.
enum { kBeginCounting = 100001, kEndCounting = 100002 };

struct Counted {
  uint64_t instructions;
  int64_t value;  // returned by the call
};

// Throws std::runtime_error if no plugin counts.
Counted count_instructions(const std::function<int64_t()>& call);
}  // namespace goldcrest::test
