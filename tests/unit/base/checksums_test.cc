// SPDX-License-Identifier: Apache-2.0
// Compares CRC-32C with published vectors, and tests its chaining.
#include "base/crc32c.h"
#include "base/hash.h"
#include "support/test.h"

namespace goldcrest { namespace {
uint32_t checksum(const std::string& bytes) { return crc32c(0, bytes.data(), bytes.size()); }

TEST(Crc32c, PublishedVectors) {
  EXPECT_EQ(checksum(""), 0u);
  EXPECT_EQ(checksum("123456789"), 0xe3069283u);
  // RFC 3720, B.4: 32 bytes of zeros, of ones, counting up and counting down.
  std::string up(32, '\0'), down(32, '\0');
  for (size_t i = 0; i < 32; ++i) {
    up[i] = static_cast<char>(i);
    down[i] = static_cast<char>(31 - i);
  }
  EXPECT_EQ(checksum(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(checksum(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(checksum(up), 0x46dd794eu);
  EXPECT_EQ(checksum(down), 0x113fdb5cu);
}

TEST(Crc32c, ContinuesAtAnySplit) {
  const std::string bytes = "The goldcrest weighs five grams.";
  for (size_t split = 0; split <= bytes.size(); ++split) {
    const uint32_t head = crc32c(0, bytes.data(), split);
    EXPECT_EQ(crc32c(head, bytes.data() + split, bytes.size() - split), checksum(bytes)) << split;
  }
}

TEST(Crc32c, EveryBitCounts) {
  std::string bytes(100, 'g');
  const uint32_t right = checksum(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    EXPECT_NE(checksum(bytes), right) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
}

// The FNV hash of words, floats and int8 elements agrees with its definition in FORMAT.md.

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
}}  // namespace goldcrest
