// SPDX-License-Identifier: Apache-2.0
#include "support/instructions.h"
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace goldcrest::test {
Counted count_instructions(const std::function<int64_t()>& call) {
  const char* const path = std::getenv("GOLDCREST_INSTRUCTIONS");
  if (path == nullptr) throw std::runtime_error("GOLDCREST_INSTRUCTIONS is not set, so no plugin counts");
  syscall(kBeginCounting);
  Counted counted = {0, call()};
  syscall(kEndCounting);
  std::ifstream file(path);
  if (!(file >> counted.instructions))
    throw std::runtime_error(std::string(path) + ": no number; is the plugin there?");
  return counted;
}
}  // namespace goldcrest::test
