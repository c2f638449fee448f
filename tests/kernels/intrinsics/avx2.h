// SPDX-License-Identifier: Apache-2.0
// Emulated intrinsics of 256 bits: AVX, AVX2 and AVX-VNNI.
#pragma once

#include "sse.h"

namespace goldcrest::intrinsics {
// Predicates of comparisons: false if an operand is not a number.
inline constexpr int _CMP_LE_OQ = 0x12, _CMP_GE_OQ = 0x1d, _CMP_GT_OQ = 0x1e;

inline bool compare(float x, float y, int predicate) {
  if (predicate == _CMP_LE_OQ) return x <= y;
  if (predicate == _CMP_GE_OQ) return x >= y;
  if (predicate == _CMP_GT_OQ) return x > y;
  __builtin_trap();  // other predicates are not emulated
}

inline __m256 _mm256_loadu_ps(const void* p) { return load<__m256>(p); }
inline __m256i _mm256_loadu_si256(const void* p) { return load<__m256i>(p); }
inline void _mm256_storeu_ps(void* p, __m256 a) { store(p, a); }
inline void _mm256_storeu_si256(void* p, __m256i a) { store(p, a); }
inline __m256 _mm256_maskload_ps(const float* p, __m256i mask) {
  const LanesOf<int32_t, __m256i> wanted = split<int32_t>(mask);
  __m256 r = {};
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] < 0) r[i] = load<float>(p + i);
  return r;
}

inline __m256 _mm256_set1_ps(float a) { return fill<__m256>(a); }
inline __m256i _mm256_set1_epi8(char a) { return fill<__m256i>(a); }
inline __m256i _mm256_set1_epi16(short a) { return fill<__m256i>(a); }
inline __m256i _mm256_set1_epi32(int a) { return fill<__m256i>(a); }
inline __m256i _mm256_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h) {
  return cast<__m256i>(Lanes<int, 8>{{a, b, c, d, e, f, g, h}});
}
inline __m256i _mm256_setzero_si256() { return __m256i{}; }

inline __m256 _mm256_castsi256_ps(__m256i a) { return cast<__m256>(a); }
inline __m256i _mm256_castps_si256(__m256 a) { return cast<__m256i>(a); }
inline __m128 _mm256_castps256_ps128(__m256 a) { return part<__m128>(a, 0); }
inline __m128i _mm256_castsi256_si128(__m256i a) { return part<__m128i>(a, 0); }
inline __m256i _mm256_zextsi128_si256(__m128i a) { return widen<__m256i>(a); }
inline __m128 _mm256_extractf128_ps(__m256 a, int half) { return part<__m128>(a, half); }
inline __m128i _mm256_extracti128_si256(__m256i a, int half) { return part<__m128i>(a, half); }

inline __m256 _mm256_add_ps(__m256 a, __m256 b) { return a + b; }
inline __m256 _mm256_sub_ps(__m256 a, __m256 b) { return a - b; }
inline __m256 _mm256_mul_ps(__m256 a, __m256 b) { return a * b; }
inline __m256 _mm256_div_ps(__m256 a, __m256 b) { return a / b; }
inline __m256 _mm256_max_ps(__m256 a, __m256 b) { return zip<float>(a, b, kLarger); }
inline __m256 _mm256_and_ps(__m256 a, __m256 b) { return zip<uint32_t>(a, b, kAnd); }
inline __m256 _mm256_or_ps(__m256 a, __m256 b) { return zip<uint32_t>(a, b, kOr); }
inline __m256 _mm256_xor_ps(__m256 a, __m256 b) { return zip<uint32_t>(a, b, kXor); }
inline __m256 _mm256_cmp_ps(__m256 a, __m256 b, int predicate) {
  LanesOf<uint32_t, __m256> r;
  for (size_t i = 0; i < r.size(); ++i) r[i] = compare(a[i], b[i], predicate) ? ~0u : 0;
  return cast<__m256>(r);
}
inline __m256 _mm256_blendv_ps(__m256 a, __m256 b, __m256 mask) {
  const LanesOf<int32_t, __m256> second = split<int32_t>(mask);
  __m256 r = a;
  for (size_t i = 0; i < second.size(); ++i)
    if (second[i] < 0) r[i] = b[i];
  return r;
}
inline __m256 _mm256_blend_ps(__m256 a, __m256 b, int choice) {
  __m256 r = a;
  for (int i = 0; i < 8; ++i)
    if ((choice >> i & 1) != 0) r[i] = b[i];
  return r;
}
inline int _mm256_movemask_ps(__m256 a) {
  const LanesOf<int32_t, __m256> x = split<int32_t>(a);
  int bits = 0;
  for (size_t i = 0; i < x.size(); ++i) bits |= (x[i] < 0 ? 1 : 0) << i;
  return bits;
}
inline __m256i _mm256_cvtps_epi32(__m256 a) { return convert<int32_t, __m256i>(split<float>(a), round_to_int32); }
inline __m256 _mm256_cvtepi32_ps(__m256i a) { return convert<float, __m256>(split<int32_t>(a)); }
inline __m256i _mm256_cvtepi8_epi16(__m128i a) { return convert<int16_t, __m256i>(split<int8_t>(a)); }
inline __m256i _mm256_cvtepi8_epi32(__m128i a) {
  const LanesOf<int8_t, __m128i> x = split<int8_t>(a);
  Lanes<int32_t, 8> r;
  for (size_t i = 0; i < r.size(); ++i) r[i] = x[i];
  return cast<__m256i>(r);
}

inline __m256i _mm256_and_si256(__m256i a, __m256i b) { return a & b; }
inline __m256i _mm256_xor_si256(__m256i a, __m256i b) { return a ^ b; }
inline __m256i _mm256_add_epi16(__m256i a, __m256i b) { return zip<uint16_t>(a, b, kAdd); }
inline __m256i _mm256_sub_epi16(__m256i a, __m256i b) { return zip<uint16_t>(a, b, kSubtract); }
inline __m256i _mm256_add_epi32(__m256i a, __m256i b) { return zip<uint32_t>(a, b, kAdd); }
inline __m256i _mm256_sub_epi32(__m256i a, __m256i b) { return zip<uint32_t>(a, b, kSubtract); }
inline __m256i _mm256_max_epi32(__m256i a, __m256i b) { return zip<int32_t>(a, b, kLarger); }
inline __m256i _mm256_min_epi8(__m256i a, __m256i b) { return zip<int8_t>(a, b, kSmaller); }
inline __m256i _mm256_cmpgt_epi16(__m256i a, __m256i b) {
  return zip<int16_t>(a, b, [](int16_t x, int16_t y) { return x > y ? -1 : 0; });
}
inline __m256i _mm256_cmpeq_epi32(__m256i a, __m256i b) {
  return zip<int32_t>(a, b, [](int32_t x, int32_t y) { return x == y ? -1 : 0; });
}
inline __m256i _mm256_cmpgt_epi32(__m256i a, __m256i b) {
  return zip<int32_t>(a, b, [](int32_t x, int32_t y) { return x > y ? -1 : 0; });
}
inline __m256i _mm256_slli_epi16(__m256i a, int n) {
  return zip<uint16_t>(a, a, [n](uint16_t x, uint16_t) { return x << n; });
}
inline __m256i _mm256_slli_epi32(__m256i a, int n) {
  return zip<uint32_t>(a, a, [n](uint32_t x, uint32_t) { return x << n; });
}
inline __m256i _mm256_srli_epi64(__m256i a, int n) {
  return zip<uint64_t>(a, a, [n](uint64_t x, uint64_t) { return x >> n; });
}
inline __m256i _mm256_abs_epi8(__m256i a) {
  return zip<int8_t>(a, a, [](int8_t x, int8_t) { return x < 0 ? -x : x; });
}
inline __m256i _mm256_sign_epi8(__m256i a, __m256i b) {
  return zip<int8_t>(a, b, [](int8_t x, int8_t sign) { return sign < 0 ? -x : sign == 0 ? 0 : x; });
}

inline __m256i _mm256_maddubs_epi16(__m256i a, __m256i b) {
  const LanesOf<uint8_t, __m256i> x = split<uint8_t>(a);
  const LanesOf<int8_t, __m256i> y = split<int8_t>(b);
  LanesOf<int16_t, __m256i> r;
  for (size_t i = 0; i < r.size(); ++i) r[i] = saturate<int16_t>(x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1]);
  return cast<__m256i>(r);
}
inline __m256i _mm256_madd_epi16(__m256i a, __m256i b) { return add_word_products(__m256i{}, a, b); }
inline __m256i _mm256_dpwssd_avx_epi32(__m256i sum, __m256i a, __m256i b) { return add_word_products(sum, a, b); }
inline __m256i _mm256_dpbusd_avx_epi32(__m256i sum, __m256i a, __m256i b) { return add_byte_products(sum, a, b); }
inline __m256i _mm256_hadd_epi32(__m256i a, __m256i b) {
  const LanesOf<uint32_t, __m256i> x = split<uint32_t>(a), y = split<uint32_t>(b);
  LanesOf<uint32_t, __m256i> r;
  for (size_t i = 0; i < r.size(); i += 4) {
    for (size_t pair = 0; pair < 4; pair += 2) {
      r[i + pair / 2] = x[i + pair] + x[i + pair + 1];
      r[i + 2 + pair / 2] = y[i + pair] + y[i + pair + 1];
    }
  }
  return cast<__m256i>(r);
}

inline __m256i _mm256_inserti128_si256(__m256i a, __m128i b, int half) { return insert_part(a, b, half); }
inline __m256i _mm256_unpacklo_epi32(__m256i a, __m256i b) { return unpack<int32_t>(a, b, false); }
inline __m256i _mm256_unpackhi_epi32(__m256i a, __m256i b) { return unpack<int32_t>(a, b, true); }
inline __m256i _mm256_unpacklo_epi64(__m256i a, __m256i b) { return unpack<int64_t>(a, b, false); }
inline __m256i _mm256_unpackhi_epi64(__m256i a, __m256i b) { return unpack<int64_t>(a, b, true); }
inline __m256i _mm256_packs_epi32(__m256i a, __m256i b) { return pack<int32_t, int16_t>(a, b); }
inline __m256i _mm256_packs_epi16(__m256i a, __m256i b) { return pack<int16_t, int8_t>(a, b); }
inline int _mm256_movemask_epi8(__m256i a) {
  const LanesOf<int8_t, __m256i> x = split<int8_t>(a);
  uint32_t bits = 0;
  for (size_t i = 0; i < x.size(); ++i) bits |= (x[i] < 0 ? 1u : 0u) << i;
  return static_cast<int>(bits);
}
inline __m256i _mm256_permutevar8x32_epi32(__m256i a, __m256i index) { return permute_words(a, index); }
inline __m256i _mm256_permute4x64_epi64(__m256i a, int order) {
  return __m256i{a[order & 3], a[order >> 2 & 3], a[order >> 4 & 3], a[order >> 6 & 3]};
}
// Four bits of `choice` for each half select one of a's and b's halves, or zeros.
inline __m256i _mm256_permute2x128_si256(__m256i a, __m256i b, int choice) {
  Lanes<__m128i, 2> r = {};
  for (size_t half = 0; half < 2; ++half, choice >>= 4)
    if ((choice & 8) == 0) r[half] = part<__m128i>((choice & 2) == 0 ? a : b, choice & 1);
  return cast<__m256i>(r);
}
}  // namespace goldcrest::intrinsics
