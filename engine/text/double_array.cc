// SPDX-License-Identifier: Apache-2.0
// Reads a trie with two array accesses for each byte, both checked.
#include "base/exact_floats.h"
#include "text/double_array.h"

namespace goldcrest {
namespace {
constexpr uint32_t kLeafBit = 1u << 8;
}  // namespace

bool step_trie(const DoubleArray& trie, uint8_t byte, uint32_t* node) {
  if (*node >= trie.n_units) return false;
  const uint32_t child = *node ^ trie_offset(trie.units[*node]) ^ byte;
  if (child >= trie.n_units || (trie.units[child] & kTrieLabelMask) != byte) return false;
  *node = child;
  return true;
}

bool view_trie_value(const DoubleArray& trie, uint32_t node, uint32_t* value) {
  if (node >= trie.n_units || (trie.units[node] & kLeafBit) == 0) return false;
  const uint32_t leaf = node ^ trie_offset(trie.units[node]);
  if (leaf >= trie.n_units || (trie.units[leaf] & kTrieLeaf) == 0) return false;
  *value = trie.units[leaf] & ~kTrieLeaf;
  return true;
}
}  // namespace goldcrest
