// SPDX-License-Identifier: Apache-2.0
// Counts every step through a trie in a program that links counted_trie.cc.
#pragma once

#include <cstdint>

namespace goldcrest::test {

extern uint64_t trie_steps;

}  // namespace goldcrest::test
