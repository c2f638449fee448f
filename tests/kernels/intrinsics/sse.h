// SPDX-License-Identifier: Apache-2.0
// Emulated intrinsics of 128 bits: SSE to SSE4.2, PCLMULQDQ.
#pragma once

#include "registers.h"

namespace goldcrest::intrinsics {
inline __m128i _mm_loadl_epi64(const void* p) { return __m128i{load<long long>(p), 0}; }
inline __m128i _mm_loadu_si128(const void* p) { return load<__m128i>(p); }
inline void _mm_storeu_si128(void* p, __m128i a) { store(p, a); }
inline __m128i _mm_setr_epi32(int a, int b, int c, int d) { return cast<__m128i>(Lanes<int, 4>{{a, b, c, d}}); }
inline __m128i _mm_set_epi64x(long long upper, long long lower) { return __m128i{lower, upper}; }
inline __m128i _mm_cvtsi32_si128(int a) { return _mm_setr_epi32(a, 0, 0, 0); }
inline int _mm_cvtsi128_si32(__m128i a) { return split<int>(a)[0]; }
inline float _mm_cvtss_f32(__m128 a) { return a[0]; }

inline __m128 _mm_add_ps(__m128 a, __m128 b) { return a + b; }
inline __m128 _mm_max_ps(__m128 a, __m128 b) { return zip<float>(a, b, kLarger); }
inline __m128 _mm_add_ss(__m128 a, __m128 b) { return __m128{a[0] + b[0], a[1], a[2], a[3]}; }
inline __m128 _mm_max_ss(__m128 a, __m128 b) { return __m128{kLarger(a[0], b[0]), a[1], a[2], a[3]}; }
inline __m128 _mm_movehl_ps(__m128 a, __m128 b) { return __m128{b[2], b[3], a[2], a[3]}; }
inline __m128 _mm_movehdup_ps(__m128 a) { return __m128{a[1], a[1], a[3], a[3]}; }

inline __m128i _mm_xor_si128(__m128i a, __m128i b) { return a ^ b; }
inline __m128i _mm_max_epi32(__m128i a, __m128i b) { return zip<int32_t>(a, b, kLarger); }
inline __m128i _mm_packs_epi16(__m128i a, __m128i b) { return pack<int16_t, int8_t>(a, b); }
inline __m128i _mm_unpacklo_epi8(__m128i a, __m128i b) { return unpack<int8_t>(a, b, false); }
inline __m128i _mm_unpackhi_epi8(__m128i a, __m128i b) { return unpack<int8_t>(a, b, true); }
inline __m128i _mm_unpackhi_epi64(__m128i a, __m128i b) { return __m128i{a[1], b[1]}; }
inline __m128i _mm_shuffle_epi32(__m128i a, int order) {
  const __m128i index = _mm_setr_epi32(order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 & 3);
  return permute_words(a, index);
}

inline uint32_t _mm_crc32_u8(uint32_t crc, uint8_t a) { return crc32c_bits(crc, a, 8); }
inline uint64_t _mm_crc32_u64(uint64_t crc, uint64_t a) { return crc32c_bits(static_cast<uint32_t>(crc), a, 64); }
inline __m128i _mm_clmulepi64_si128(__m128i a, __m128i b, int halves) { return multiply_carry_less(a, b, halves); }
}  // namespace goldcrest::intrinsics
