// SPDX-License-Identifier: Apache-2.0
// Cycles of a loop of a few Thumb instructions on a model.
#pragma once

#include <string>
#include <vector>

#include "arm_cycles/core.h"

namespace arm_cycles {

// Cycles of one turn, without the beginning and the end of the program.
inline double cycles_a_turn(const char* core, const std::vector<std::string>& turn) {
  const auto cycles = [&](int turns) {
    Trace trace;
    for (const std::string& line : turn) {
      const size_t space = line.find(' ');
      const std::string operands = space == std::string::npos ? "" : line.substr(space + 1);
      trace.instructions.push_back(decode_thumb(line.substr(0, space), operands));
    }
    for (int i = 0; i < turns; ++i) {
      for (uint32_t step = 0; step < turn.size(); ++step) trace.steps.push_back({step, false});
    }
    return static_cast<double>(cycles_of(trace, core_named(core), {}));
  };
  constexpr int kFew = 100, kMany = 400;
  return (cycles(kMany) - cycles(kFew)) / (kMany - kFew);
}

}  // namespace arm_cycles
