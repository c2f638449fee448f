// SPDX-License-Identifier: Apache-2.0
// Computes CRC-32C byte by byte with a table made at compile time: small enough for firmware, the same on every
// machine.
#include "base/exact_floats.h"
#include "base/crc32c.h"

namespace goldcrest {
namespace {
constexpr uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41 reflected; Castagnoli et al. 1993

struct Table {
  uint32_t entries[256] = {};

  constexpr Table() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t remainder = byte;
      for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1u) != 0 ? kPolynomial : 0u);
      entries[byte] = remainder;
    }
  }
};

constexpr Table kTable;
}  // namespace

uint32_t crc32c(uint32_t crc, const void* bytes, size_t n) {
  const auto* byte = static_cast<const uint8_t*>(bytes);
  uint32_t remainder = ~crc;
  for (size_t i = 0; i < n; ++i) remainder = (remainder >> 8) ^ kTable.entries[(remainder ^ byte[i]) & 0xffu];
  return ~remainder;
}
}  // namespace goldcrest
