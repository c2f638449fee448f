// SPDX-License-Identifier: Apache-2.0
// Reads a trie in the layout of darts-clone, which SentencePiece's normalizer maps use. The child of node n for byte b
// is node n ^ offset(n) ^ b if its label is b. The value of the string that ends in n is in the leaf n ^ offset(n).
//   unit of a node: label in bits 0..7, "a string ends here" in bit 8, offset in bits 10..30, times 256 if bit 9 is set
//   unit of a leaf: value in bits 0..30, bit 31 set
// github.com/google/sentencepiece at v0.1.97, third_party/darts_clone/darts.h, class DoubleArrayUnit.
#pragma once

#include <stdint.h>

namespace goldcrest {
struct DoubleArray {
  const uint32_t* units;  // [n_units]; any content is safe: a walk that leaves the array finds no string
  uint32_t n_units;
};

constexpr uint32_t kTrieLeaf = 1u << 31;
constexpr uint32_t kTrieLabelMask = kTrieLeaf | 0xFF;  // a leaf's label equals no byte

inline uint32_t trie_offset(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

// Moves *node to its child for `byte`. Returns false and leaves *node unchanged if there is none. The root is node 0.
bool step_trie(const DoubleArray& trie, uint8_t byte, uint32_t* node);

// Returns whether a string ends in the node, which step_trie must have returned. *value <- its value, which the caller
// must check.
bool view_trie_value(const DoubleArray& trie, uint32_t node, uint32_t* value);
}  // namespace goldcrest
