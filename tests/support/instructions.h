// SPDX-License-Identifier: Apache-2.0
// How many instructions a call takes, of programs that run in QEMU with the plugin instruction_counter.cc.
#pragma once

#include <cstdint>
#include <functional>

namespace goldcrest::test {

struct Counted {
  uint64_t instructions;
  int64_t value;  // that the call returned
};

// Throws std::runtime_error where nobody counts.
Counted count_instructions(const std::function<int64_t()>& call);

}  // namespace goldcrest::test
