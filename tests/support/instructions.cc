// SPDX-License-Identifier: Apache-2.0
#include "support/instructions.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "support/instruction_counter.h"

namespace goldcrest::test {

uint64_t count_instructions(const std::function<void()>& call) {
  const char* const path = std::getenv("GOLDCREST_INSTRUCTIONS");
  if (path == nullptr) throw std::runtime_error("GOLDCREST_INSTRUCTIONS: not set, so that nobody counts");
  syscall(kBeginCounting);
  call();
  syscall(kEndCounting);
  uint64_t n = 0;
  std::ifstream file(path);
  if (!(file >> n)) throw std::runtime_error(std::string(path) + ": no number; is the plugin there?");
  return n;
}

}  // namespace goldcrest::test
