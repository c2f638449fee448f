// SPDX-License-Identifier: Apache-2.0
// The work of a call, as its comment states it, bounds its instructions: counted at three sizes of what makes it work
// most, with the `reference` kernels, of which no other table needs more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace goldcrest::test {

struct Cost {
  uint64_t instructions = 0, work = 0;
};

// A call that needs at most so many instructions a unit of its work, beside a fixed few thousand.
struct StatedWork {
  std::string call;
  uint64_t instructions_each;
};

// cost(size) for the sizes 1, 2 and 4: within the statement, and grows as the work does or less.
void expect_linear(const StatedWork& stated, const std::function<Cost(uint32_t size)>& cost);

}  // namespace goldcrest::test
