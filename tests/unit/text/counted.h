// SPDX-License-Identifier: Apache-2.0
// Counts of a program that links counted_trie.cc, or counted_characters.cc.
#pragma once

#include <cstdint>

namespace goldcrest::test {
extern uint64_t trie_steps;
extern uint64_t characters_read;
}  // namespace goldcrest::test
