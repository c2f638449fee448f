// SPDX-License-Identifier: Apache-2.0
// Emulated intrinsics of 512 bits: AVX-512 F, BW, DQ and VL, VNNI, VPCLMULQDQ.
#pragma once

#include "avx2.h"

namespace goldcrest::intrinsics {
inline __m512 _mm512_loadu_ps(const void* p) { return load<__m512>(p); }
inline __m512i _mm512_loadu_si512(const void* p) { return load<__m512i>(p); }
inline void _mm512_storeu_ps(void* p, __m512 a) { store(p, a); }
inline void _mm512_storeu_si512(void* p, __m512i a) { store(p, a); }
inline void _mm512_store_si512(void* p, __m512i a) {
  if (reinterpret_cast<uintptr_t>(p) % 64 != 0) __builtin_trap();
  store(p, a);
}
inline __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const void* p) {
  LanesOf<uint32_t, __m512> r = {};
  for (size_t i = 0; i < r.size(); ++i)
    if ((mask >> i & 1) != 0) r[i] = load<uint32_t>(static_cast<const uint32_t*>(p) + i);
  return cast<__m512>(r);
}
inline __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void* p) {
  LanesOf<int8_t, __m512i> r = {};
  for (size_t i = 0; i < r.size(); ++i)
    if ((mask >> i & 1) != 0) r[i] = static_cast<const int8_t*>(p)[i];
  return cast<__m512i>(r);
}

inline void _mm512_mask_storeu_epi8(void* p, __mmask64 mask, __m512i a) {
  const auto bytes = cast<LanesOf<int8_t, __m512i>>(a);
  for (size_t i = 0; i < bytes.size(); ++i)
    if ((mask >> i & 1) != 0) static_cast<int8_t*>(p)[i] = bytes[i];
}

inline __m512 _mm512_set1_ps(float a) { return fill<__m512>(a); }
inline __m512i _mm512_set1_epi8(char a) { return fill<__m512i>(a); }
inline __m512i _mm512_set1_epi32(int a) { return fill<__m512i>(a); }
inline __m512i _mm512_setr_epi32(
    int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m, int n, int o, int p) {
  return cast<__m512i>(Lanes<int, 16>{{a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p}});
}
inline __m512i _mm512_setzero_si512() { return __m512i{}; }
inline __m512i _mm512_broadcast_i32x4(__m128i a) { return fill<__m512i>(a); }

inline __m512 _mm512_castsi512_ps(__m512i a) { return cast<__m512>(a); }
inline __m512i _mm512_castps_si512(__m512 a) { return cast<__m512i>(a); }
inline __m256 _mm512_castps512_ps256(__m512 a) { return part<__m256>(a, 0); }
inline __m512i _mm512_zextsi128_si512(__m128i a) { return widen<__m512i>(a); }
inline __m256 _mm512_extractf32x8_ps(__m512 a, int half) { return part<__m256>(a, half); }

inline __m512 _mm512_add_ps(__m512 a, __m512 b) { return a + b; }
inline __m512 _mm512_sub_ps(__m512 a, __m512 b) { return a - b; }
inline __m512 _mm512_mul_ps(__m512 a, __m512 b) { return a * b; }
inline __m512 _mm512_div_ps(__m512 a, __m512 b) { return a / b; }
// c - a * b, rounded once.
inline __m512 _mm512_fnmadd_ps(__m512 a, __m512 b, __m512 c) {
  for (size_t i = 0; i < 16; ++i) c[i] = __builtin_fmaf(-a[i], b[i], c[i]);
  return c;
}
inline __m512 _mm512_max_ps(__m512 a, __m512 b) { return zip<float>(a, b, kLarger); }
inline __m512 _mm512_or_ps(__m512 a, __m512 b) { return zip<uint32_t>(a, b, kOr); }
inline __m512 _mm512_xor_ps(__m512 a, __m512 b) { return zip<uint32_t>(a, b, kXor); }
inline __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int predicate) {
  uint32_t mask = 0;
  for (size_t i = 0; i < 16; ++i) mask |= (compare(a[i], b[i], predicate) ? 1u : 0u) << i;
  return static_cast<__mmask16>(mask);
}
inline __m512 _mm512_mask_blend_ps(__mmask16 mask, __m512 a, __m512 b) {
  __m512 r = a;
  for (size_t i = 0; i < 16; ++i)
    if ((mask >> i & 1) != 0) r[i] = b[i];
  return r;
}
inline __m512i _mm512_cvtps_epi32(__m512 a) { return convert<int32_t, __m512i>(split<float>(a), round_to_int32); }
inline __m512 _mm512_cvtepi32_ps(__m512i a) { return convert<float, __m512>(split<int32_t>(a)); }
inline __m512i _mm512_cvtepi8_epi32(__m128i a) { return convert<int32_t, __m512i>(split<int8_t>(a)); }
inline __m512i _mm512_cvtepi8_epi16(__m256i a) { return convert<int16_t, __m512i>(split<int8_t>(a)); }
inline __m256i _mm512_cvtsepi32_epi16(__m512i a) {
  return convert<int16_t, __m256i>(split<int32_t>(a), saturate<int16_t>);
}
inline __m128i _mm512_cvtsepi32_epi8(__m512i a) {
  return convert<int8_t, __m128i>(split<int32_t>(a), saturate<int8_t>);
}

// Rounds to whole numbers, halves to even. The kernels use no other rounding.
inline float round_to_whole(float x) {
  if (!(x > -0x1p23f && x < 0x1p23f)) return x;
  const float whole = __builtin_signbit(x) ? -0x1p23f : 0x1p23f;
  return __builtin_copysignf((x + whole) - whole, x);
}
constexpr int _MM_FROUND_TO_NEAREST_INT = 0, _MM_FROUND_NO_EXC = 8;
inline __m512 _mm512_roundscale_ps(__m512 a, int way) {
  if (way != (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)) __builtin_trap();
  return convert<float, __m512>(split<float>(a), round_to_whole);
}

// x * 2^floor(n), rounded once. An infinite n turns even a quiet NaN into 0 or infinity.
inline float scale_by_power(float x, float n) {
  const bool is_nan = x != x, is_quiet_nan = is_nan && (cast<uint32_t>(x) & 0x400000) != 0;
  if (__builtin_isinf(n) && is_quiet_nan) return n > 0 ? n : 0.0f;
  if (__builtin_isinf(n) && !is_nan) return x * (n > 0 ? n : 0.0f);
  if (is_nan || n != n) return x + n;
  const double power = n < -600  ? -600
                       : n > 600 ? 600
                                 : n;  // beyond this the result stays the same; the product is exact
  int64_t whole = static_cast<int64_t>(power);
  if (static_cast<double>(whole) > power) --whole;
  return static_cast<float>(static_cast<double>(x) * cast<double>((whole + 1023) << 52));
}
inline __m512 _mm512_scalef_ps(__m512 a, __m512 b) { return zip<float>(a, b, scale_by_power); }

// Halves the register again and again, as compilers do: the upper half with the lower.
inline float _mm512_reduce_max_ps(__m512 a) {
  const __m256 eight = _mm256_max_ps(part<__m256>(a, 1), part<__m256>(a, 0));
  const __m128 four = _mm_max_ps(part<__m128>(eight, 1), part<__m128>(eight, 0));
  return kLarger(kLarger(four[0], four[2]), kLarger(four[1], four[3]));
}
inline int _mm512_reduce_add_epi32(__m512i a) {
  uint32_t sum = 0;
  for (const uint32_t x : split<uint32_t>(a).lane) sum += x;
  return static_cast<int>(sum);
}
inline uint32_t _mm512_reduce_max_epu32(__m512i a) {
  uint32_t largest = 0;
  for (const uint32_t x : split<uint32_t>(a).lane) largest = x > largest ? x : largest;
  return largest;
}

inline __m512i _mm512_and_si512(__m512i a, __m512i b) { return a & b; }
inline __m512i _mm512_xor_si512(__m512i a, __m512i b) { return a ^ b; }
// Bit 4a + 2b + c of `table` for the bits a, b, c.
inline __m512i _mm512_ternarylogic_epi64(__m512i a, __m512i b, __m512i c, int table) {
  __m512i r = {};
  for (int index = 0; index < 8; ++index)
    if ((table >> index & 1) != 0)
      r |= ((index & 4) != 0 ? a : ~a) & ((index & 2) != 0 ? b : ~b) & ((index & 1) != 0 ? c : ~c);
  return r;
}
inline __m512i _mm512_add_epi32(__m512i a, __m512i b) { return zip<uint32_t>(a, b, kAdd); }
inline __m512i _mm512_sub_epi32(__m512i a, __m512i b) { return zip<uint32_t>(a, b, kSubtract); }
inline __m512i _mm512_max_epu32(__m512i a, __m512i b) { return zip<uint32_t>(a, b, kLarger); }
inline __m512i _mm512_min_epi8(__m512i a, __m512i b) { return zip<int8_t>(a, b, kSmaller); }
inline __m512i _mm512_slli_epi32(__m512i a, unsigned n) {
  return zip<uint32_t>(a, a, [n](uint32_t x, uint32_t) { return x << n; });
}
inline __m512i _mm512_dpwssd_epi32(__m512i sum, __m512i a, __m512i b) { return add_word_products(sum, a, b); }
inline __m512i _mm512_dpbusd_epi32(__m512i sum, __m512i a, __m512i b) { return add_byte_products(sum, a, b); }

inline __m512i _mm512_inserti32x4(__m512i a, __m128i b, int quarter) { return insert_part(a, b, quarter); }
inline __m512i _mm512_packs_epi32(__m512i a, __m512i b) { return pack<int32_t, int16_t>(a, b); }
inline __m512i _mm512_packs_epi16(__m512i a, __m512i b) { return pack<int16_t, int8_t>(a, b); }
inline __m512i _mm512_unpacklo_epi32(__m512i a, __m512i b) { return unpack<int32_t>(a, b, false); }
inline __m512i _mm512_unpackhi_epi32(__m512i a, __m512i b) { return unpack<int32_t>(a, b, true); }
inline __m512i _mm512_unpacklo_epi64(__m512i a, __m512i b) { return unpack<int64_t>(a, b, false); }
inline __m512i _mm512_unpackhi_epi64(__m512i a, __m512i b) { return unpack<int64_t>(a, b, true); }
inline __m512i _mm512_permutexvar_epi32(__m512i index, __m512i a) { return permute_words(a, index); }
// Words n to n + 15 of b and a, joined.
inline __m512i _mm512_alignr_epi32(__m512i a, __m512i b, int n) {
  const LanesOf<uint32_t, __m512i> high = split<uint32_t>(a), low = split<uint32_t>(b);
  LanesOf<uint32_t, __m512i> r;
  for (size_t i = 0; i < r.size(); ++i) {
    const size_t at = i + static_cast<size_t>(n);
    r[i] = at < r.size() ? low[at] : high[at - r.size()];
  }
  return cast<__m512i>(r);
}
inline __m512i _mm512_shuffle_i32x4(__m512i a, __m512i b, int order) {
  Lanes<__m128i, 4> r;
  for (size_t i = 0; i < r.size(); ++i, order >>= 2) r[i] = part<__m128i>(i < 2 ? a : b, order & 3);
  return cast<__m512i>(r);
}
inline __m512i _mm512_clmulepi64_epi128(__m512i a, __m512i b, int halves) { return multiply_carry_less(a, b, halves); }
}  // namespace goldcrest::intrinsics
