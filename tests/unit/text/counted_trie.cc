// SPDX-License-Identifier: Apache-2.0
// The engine's own source of tries under another name, with a step_trie around it. The linker takes this object's
// definitions instead of the library's.
#include "unit/text/counted.h"

// NOLINTNEXTLINE(readability-identifier-naming): a function's name
#define step_trie uncounted_step_trie
#include "engine/text/double_array.cc"  // NOLINT(bugprone-suspicious-include)
#undef step_trie

uint64_t goldcrest::test::trie_steps = 0;

namespace goldcrest {
bool step_trie(const DoubleArray& trie, uint8_t byte, uint32_t* node);

bool step_trie(const DoubleArray& trie, uint8_t byte, uint32_t* node) {
  ++test::trie_steps;
  return uncounted_step_trie(trie, byte, node);
}
}  // namespace goldcrest
