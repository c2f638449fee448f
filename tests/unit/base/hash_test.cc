// SPDX-License-Identifier: Apache-2.0
// The FNV hash of words, floats and int8 elements agrees with its definition in FORMAT.md.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace goldcrest {
namespace {

TEST(Hash, FirstWords) {
  // FNV-1a of one octet equals one step with that octet as the word: "a" in the FNV test suite of draft-eastlake-fnv.
  EXPECT_EQ(hash_word(kHashStart, 'a'), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_word(hash_word(kHashStart, 'f'), 'o'), 0x08985907b541d342u);
  EXPECT_EQ(hash_halves(kHashStart, 0x0000000600000005u), hash_word(hash_word(kHashStart, 5), 6));
}

TEST(Hash, FloatsAreTheirBits) {
  const std::vector<float> values = {1.0f, -0.0f, 2.5f};
  uint64_t expected = kHashStart;
  for (const uint32_t bits : {0x3f800000u, 0x80000000u, 0x40200000u}) expected = hash_word(expected, bits);
  EXPECT_EQ(hash_floats(kHashStart, values.data(), values.size()), expected);
}

TEST(Hash, Int8GoesFourToAWordLowestFirst) {
  const std::vector<int8_t> values = {1, 2, 3, 4, -1, -127, 127, 0};
  const uint64_t expected = hash_word(hash_word(kHashStart, 0x04030201u), 0x007f81ffu);
  EXPECT_EQ(hash_int8(kHashStart, values.data(), values.size()), expected);
}

}  // namespace
}  // namespace goldcrest
