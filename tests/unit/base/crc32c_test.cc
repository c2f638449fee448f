// SPDX-License-Identifier: Apache-2.0
// Compares CRC-32C with published vectors, and tests its chaining.
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace goldcrest {
namespace {

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

}  // namespace
}  // namespace goldcrest
