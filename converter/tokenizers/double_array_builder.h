// SPDX-License-Identifier: Apache-2.0
// Builds the double array that engine/text/double_array.h reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goldcrest::converter {
struct TrieEntry {
  std::string key;     // not empty, no NUL inside
  uint32_t value = 0;  // below 2^31
};

// The units depend only on the set of entries, not on their order. Throws Error for a duplicate key and for a key that
// a trie cannot hold.
std::vector<uint32_t> build_double_array(std::vector<TrieEntry> entries);
}  // namespace goldcrest::converter
