// SPDX-License-Identifier: Apache-2.0
// The work of a call, as its comment states it, bounds its instructions. They are counted at three sizes of the input
// that makes the most work. The `reference` kernels run, which need the most instructions of all tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace goldcrest::test {
struct Cost {
  uint64_t instructions = 0, work = 0;
};

// A call that needs at most this many instructions for each unit of its work, and a fixed few thousand.
struct StatedWork {
  std::string call;
  uint64_t instructions_each;
};

// Calls cost(size) for the sizes 1, 2 and 4. Each cost must stay below the stated bound and grow at most as the work.
void expect_linear(const StatedWork& stated, const std::function<Cost(uint32_t size)>& cost);
}  // namespace goldcrest::test
