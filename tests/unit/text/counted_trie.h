// SPDX-License-Identifier: Apache-2.0
// Counts every step through a trie of a program that counted_trie.cc is linked into.
#pragma once

#include <cstdint>

namespace goldcrest::test {

extern uint64_t trie_steps;

}  // namespace goldcrest::test
