// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace goldcrest::test {
// splitmix64 (Steele, Lea and Flood 2014).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return z;
  }

  // A number in [0, n); n >= 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((bits() >> 32) * n >> 32); }

  // A number in [low, high].
  uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }

  // Uniform in [-1, 1).
  float uniform() {
    return static_cast<float>(static_cast<int32_t>(bits() >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
  }

  // A number in [-127, 127].
  int8_t weight() { return static_cast<int8_t>(static_cast<int32_t>(below(255)) - 127); }

  std::vector<int32_t> ids(uint32_t n, uint32_t vocab_size) {
    std::vector<int32_t> ids(n);
    for (int32_t& id : ids) id = static_cast<int32_t>(below(vocab_size));
    return ids;
  }
 private:
  uint64_t state_;
};
}  // namespace goldcrest::test
