// SPDX-License-Identifier: Apache-2.0
// The CRC32 instruction of SSE4.2, which every CPU with AVX2 has.
#pragma once

#include <nmmintrin.h>
#include <stdint.h>

namespace goldcrest { namespace {
inline uint32_t crc_word(uint32_t crc, uint64_t eight_bytes) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, eight_bytes));
}
inline uint32_t crc_byte(uint32_t crc, uint8_t byte) { return _mm_crc32_u8(crc, byte); }
}}  // namespace goldcrest

#include "kernels/vector/crc32c_words-inl.h"
