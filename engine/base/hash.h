// SPDX-License-Identifier: Apache-2.0
// 64-bit FNV-1a over 32-bit words: the hash of logits and of weights (FORMAT.md, "Self-test" and "Hash of the
// weights").
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace goldcrest {
constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

// All of them continue `hash`; start with kHashStart.
constexpr uint64_t hash_word(uint64_t hash, uint32_t word) { return (hash ^ word) * 0x100000001b3u; }

// Continues with two words: the low half of `value`, then the high half.
constexpr uint64_t hash_halves(uint64_t hash, uint64_t value) {
  return hash_word(hash_word(hash, static_cast<uint32_t>(value)), static_cast<uint32_t>(value >> 32));
}

// Continues with the bits of each float, one word each.
inline uint64_t hash_floats(uint64_t hash, const float* values, size_t n) {
  static_assert(sizeof(float) == sizeof(uint32_t));
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits = 0;
    memcpy(&bits, &values[i], sizeof bits);
    hash = hash_word(hash, bits);
  }
  return hash;
}

// Continues with four elements a word, the first in the lowest byte. n % 4 == 0.
inline uint64_t hash_int8(uint64_t hash, const int8_t* values, size_t n) {
  for (size_t i = 0; i < n; i += 4) {
    uint32_t word = 0;
    for (size_t j = 0; j < 4; ++j) word |= static_cast<uint32_t>(static_cast<uint8_t>(values[i + j])) << (8 * j);
    hash = hash_word(hash, word);
  }
  return hash;
}
}  // namespace goldcrest
