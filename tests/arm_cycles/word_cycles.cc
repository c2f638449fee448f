// SPDX-License-Identifier: Apache-2.0
// For each traced word on a Cortex-M, prints beam size, instructions, and modelled cycles an instruction:
//
//   word_cycles PREFIX CORE
#include <cstdio>
#include <exception>

#include "arm_cycles/trace.h"

int main(int argc, char** argv) {
  using namespace arm_cycles;
  if (argc != 3) {
    std::fprintf(stderr, "usage: word_cycles PREFIX CORE\n");
    return 2;
  }
  try {
    const Core& core = core_named(argv[2]);
    const TraceFile file(argv[1], core.decoder);
    for (size_t section = 0; section < file.sections(); ++section) {
      const Trace trace = file.trace(section);
      const auto instructions = static_cast<double>(trace.steps.size());
      const auto cycles = static_cast<double>(cycles_of(trace, core, {}));
      std::printf("%d %.0f %.2f\n", section == 0 ? 1 : 4, instructions, cycles / instructions);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "word_cycles: %s\n", error.what());
    return 1;
  }
}
