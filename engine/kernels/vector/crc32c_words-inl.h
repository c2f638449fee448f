// SPDX-License-Identifier: Apache-2.0
// Computes CRC-32C with a CPU's instruction for it. The result takes several cycles, so three stretches of a block are
// computed in parallel. The checksum is linear, so the three can be combined:
//   crc(a b) = append_zeros(crc(a), |b|) ^ crc(b)
//
// The including file defines before this one, in goldcrest's unnamed namespace:
//   uint32_t crc_word(uint32_t crc, uint64_t eight_bytes), uint32_t crc_byte(uint32_t crc, uint8_t byte)
// Here a crc is the content of the register, not inverted.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace goldcrest { namespace {
constexpr uint32_t kCrcPolynomial = 0x82f63b78;  // base/crc32c.cc
constexpr size_t kStretch = 2048;                // bytes

// append_zeros(crc, kStretch), as a table for each byte of the crc.
struct AppendZeros {
  uint32_t table[4][256];
};

constexpr AppendZeros make_append_zeros() {
  uint32_t of_bit[32] = {};
  for (int bit = 0; bit < 32; ++bit) {
    uint32_t crc = 1u << bit;
    for (size_t i = 0; i < 8 * kStretch; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCrcPolynomial : 0u);
    of_bit[bit] = crc;
  }
  AppendZeros zeros = {};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      for (int bit = 0; bit < 8; ++bit)
        if ((value >> bit & 1) != 0) zeros.table[byte][value] ^= of_bit[8 * byte + bit];
    }
  }
  return zeros;
}

constexpr AppendZeros kAppendZeros = make_append_zeros();

inline uint32_t append_zeros(uint32_t crc) {
  return kAppendZeros.table[0][crc & 255] ^ kAppendZeros.table[1][crc >> 8 & 255] ^
         kAppendZeros.table[2][crc >> 16 & 255] ^ kAppendZeros.table[3][crc >> 24];
}

inline uint64_t eight_bytes_at(const uint8_t* bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

uint32_t crc32c_words(uint32_t crc, const void* data, size_t n) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  uint32_t a = ~crc;
  for (; n >= 3 * kStretch; n -= 3 * kStretch, bytes += 3 * kStretch) {
    uint32_t b = 0, c = 0;
    for (size_t i = 0; i < kStretch; i += 8) {
      a = crc_word(a, eight_bytes_at(bytes + i));
      b = crc_word(b, eight_bytes_at(bytes + kStretch + i));
      c = crc_word(c, eight_bytes_at(bytes + 2 * kStretch + i));
    }
    a = append_zeros(append_zeros(a) ^ b) ^ c;
  }
  for (; n >= 8; n -= 8, bytes += 8) a = crc_word(a, eight_bytes_at(bytes));
  for (; n > 0; --n, ++bytes) a = crc_byte(a, *bytes);
  return ~a;
}
}}  // namespace goldcrest
