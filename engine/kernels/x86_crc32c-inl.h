// SPDX-License-Identifier: Apache-2.0
// CRC-32C with the CRC32 instruction of SSE4.2. It has a latency of three cycles, so three stretches of a block go side
// by side; the checksum is linear, which lets the three be put together: crc(a b) = append_zeros(crc(a), |b|) ^ crc(b).
#include <nmmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace goldcrest {
namespace {

constexpr size_t kStretch = 2048;  // bytes

// append_zeros(crc, kStretch), as a table for each byte of the crc. crc is the register, not inverted.
struct AppendZeros {
  uint32_t table[4][256];
};

constexpr AppendZeros make_append_zeros() {
  uint32_t of_bit[32] = {};
  for (int bit = 0; bit < 32; ++bit) {
    uint32_t crc = 1u << bit;
    for (size_t i = 0; i < 8 * kStretch; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    of_bit[bit] = crc;
  }
  AppendZeros zeros = {};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      for (int bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1) != 0) zeros.table[byte][value] ^= of_bit[8 * byte + bit];
      }
    }
  }
  return zeros;
}

constexpr AppendZeros kAppendZeros = make_append_zeros();

inline uint32_t append_zeros(uint32_t crc) {
  return kAppendZeros.table[0][crc & 255] ^ kAppendZeros.table[1][crc >> 8 & 255] ^
         kAppendZeros.table[2][crc >> 16 & 255] ^ kAppendZeros.table[3][crc >> 24];
}

inline uint64_t load_word(const uint8_t* bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

uint32_t crc32c_sse42(uint32_t crc, const void* data, size_t n) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  uint64_t a = ~crc;
  for (; n >= 3 * kStretch; n -= 3 * kStretch, bytes += 3 * kStretch) {
    uint64_t b = 0, c = 0;
    for (size_t i = 0; i < kStretch; i += 8) {
      a = _mm_crc32_u64(a, load_word(bytes + i));
      b = _mm_crc32_u64(b, load_word(bytes + kStretch + i));
      c = _mm_crc32_u64(c, load_word(bytes + 2 * kStretch + i));
    }
    a = append_zeros(append_zeros(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^ static_cast<uint32_t>(c);
  }
  for (; n >= 8; n -= 8, bytes += 8) a = _mm_crc32_u64(a, load_word(bytes));
  uint32_t last = static_cast<uint32_t>(a);
  for (; n > 0; --n, ++bytes) last = _mm_crc32_u8(last, *bytes);
  return ~last;
}

}  // namespace
}  // namespace goldcrest
