// SPDX-License-Identifier: Apache-2.0
// Calls of the intrinsics of 512 bits. GOLDCREST_CALLS: native or emulated.
#include <immintrin.h>

#include "intrinsic_calls.h"

namespace goldcrest::test {
// The immediate operands are the kernels'.
constinit const IntrinsicCall GOLDCREST_CALLS::kAvx512Calls[] = {
    {"_mm512_loadu_ps", Needs::kAvx512, Compare::kBits, call([](Memory m) { return _mm512_loadu_ps(m.bytes); })},
    {"_mm512_loadu_si512", Needs::kAvx512, Compare::kBits, call([](Memory m) { return _mm512_loadu_si512(m.bytes); })},
    {"_mm512_storeu_ps", Needs::kAvx512, Compare::kBits, call([](__m512 a) {
       Memory m;
       _mm512_storeu_ps(m.bytes, a);
       return m;
     })},
    {"_mm512_storeu_si512", Needs::kAvx512, Compare::kBits, call([](__m512i a) {
       Memory m;
       _mm512_storeu_si512(m.bytes, a);
       return m;
     })},
    {"_mm512_store_si512", Needs::kAvx512, Compare::kBits, call([](__m512i a) {
       Memory m;
       _mm512_store_si512(m.bytes, a);
       return m;
     })},
    {"_mm512_maskz_loadu_ps", Needs::kAvx512, Compare::kBits,
        call([](__mmask16 mask, Memory m) { return _mm512_maskz_loadu_ps(mask, m.bytes); })},
    {"_mm512_maskz_loadu_epi8", Needs::kAvx512, Compare::kBits,
        call([](__mmask64 mask, Memory m) { return _mm512_maskz_loadu_epi8(mask, m.bytes); })},
    {"_mm512_mask_storeu_epi8", Needs::kAvx512, Compare::kBits, call([](__mmask64 mask, __m512i a) {
       Memory m = {};
       _mm512_mask_storeu_epi8(m.bytes, mask, a);
       return m;
     })},
    {"_mm512_set1_ps", Needs::kAvx512, Compare::kBits, call([](float a) { return _mm512_set1_ps(a); })},
    {"_mm512_set1_epi8", Needs::kAvx512, Compare::kBits, call([](char a) { return _mm512_set1_epi8(a); })},
    {"_mm512_set1_epi32", Needs::kAvx512, Compare::kBits, call([](int a) { return _mm512_set1_epi32(a); })},
    {"_mm512_setr_epi32", Needs::kAvx512, Compare::kBits, call([](int a, int b, int c) {
       return _mm512_setr_epi32(a, b, c, 3, 4, 5, 6, 7, a, b, c, 11, 12, 13, 14, 15);
     })},
    {"_mm512_setzero_si512", Needs::kAvx512, Compare::kBits, call([]() { return _mm512_setzero_si512(); })},
    {"_mm512_broadcast_i32x4", Needs::kAvx512, Compare::kBits,
        call([](__m128i a) { return _mm512_broadcast_i32x4(a); })},
    {"_mm512_castsi512_ps", Needs::kAvx512, Compare::kBits, call([](__m512i a) { return _mm512_castsi512_ps(a); })},
    {"_mm512_castps_si512", Needs::kAvx512, Compare::kBits, call([](__m512 a) { return _mm512_castps_si512(a); })},
    {"_mm512_castps512_ps256", Needs::kAvx512, Compare::kBits,
        call([](__m512 a) { return _mm512_castps512_ps256(a); })},
    {"_mm512_zextsi128_si512", Needs::kAvx512, Compare::kBits,
        call([](__m128i a) { return _mm512_zextsi128_si512(a); })},
    {"_mm512_extractf32x8_ps", Needs::kAvx512, Compare::kBits,
        call([](__m512 a) { return _mm512_extractf32x8_ps(a, 1); })},
    {"_mm512_add_ps", Needs::kAvx512, Compare::kNumbers, call([](__m512 a, __m512 b) { return _mm512_add_ps(a, b); })},
    {"_mm512_sub_ps", Needs::kAvx512, Compare::kNumbers, call([](__m512 a, __m512 b) { return _mm512_sub_ps(a, b); })},
    {"_mm512_mul_ps", Needs::kAvx512, Compare::kNumbers, call([](__m512 a, __m512 b) { return _mm512_mul_ps(a, b); })},
    {"_mm512_div_ps", Needs::kAvx512, Compare::kNumbers, call([](__m512 a, __m512 b) { return _mm512_div_ps(a, b); })},
    {"_mm512_fnmadd_ps", Needs::kAvx512, Compare::kNumbers,
        call([](__m512 a, __m512 b, __m512 c) { return _mm512_fnmadd_ps(a, b, c); })},
    {"_mm512_max_ps", Needs::kAvx512, Compare::kNumbers, call([](__m512 a, __m512 b) { return _mm512_max_ps(a, b); })},
    {"_mm512_or_ps", Needs::kAvx512, Compare::kBits, call([](__m512 a, __m512 b) { return _mm512_or_ps(a, b); })},
    {"_mm512_xor_ps", Needs::kAvx512, Compare::kBits, call([](__m512 a, __m512 b) { return _mm512_xor_ps(a, b); })},
    {"_mm512_cmp_ps_mask", Needs::kAvx512, Compare::kBits,
        call([](__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); })},
    {"_mm512_cmp_ps_mask", Needs::kAvx512, Compare::kBits,
        call([](__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); })},
    {"_mm512_cmp_ps_mask", Needs::kAvx512, Compare::kBits,
        call([](__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); })},
    {"_mm512_mask_blend_ps", Needs::kAvx512, Compare::kBits,
        call([](__mmask16 mask, __m512 a, __m512 b) { return _mm512_mask_blend_ps(mask, a, b); })},
    {"_mm512_cvtps_epi32", Needs::kAvx512, Compare::kBits, call([](__m512 a) { return _mm512_cvtps_epi32(a); })},
    {"_mm512_cvtepi32_ps", Needs::kAvx512, Compare::kBits, call([](__m512i a) { return _mm512_cvtepi32_ps(a); })},
    {"_mm512_cvtepi8_epi32", Needs::kAvx512, Compare::kBits, call([](__m128i a) { return _mm512_cvtepi8_epi32(a); })},
    {"_mm512_cvtepi8_epi16", Needs::kAvx512, Compare::kBits, call([](__m256i a) { return _mm512_cvtepi8_epi16(a); })},
    {"_mm512_cvtsepi32_epi16", Needs::kAvx512, Compare::kBits,
        call([](__m512i a) { return _mm512_cvtsepi32_epi16(a); })},
    {"_mm512_cvtsepi32_epi8", Needs::kAvx512, Compare::kBits, call([](__m512i a) { return _mm512_cvtsepi32_epi8(a); })},
    {"_mm512_roundscale_ps", Needs::kAvx512, Compare::kNumbers,
        call([](__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); })},
    {"_mm512_scalef_ps", Needs::kAvx512, Compare::kNumbers,
        call([](__m512 a, __m512 b) { return _mm512_scalef_ps(a, b); })},
    {"_mm512_reduce_max_ps", Needs::kAvx512, Compare::kBits,
        call([](__m512i a) { return _mm512_reduce_max_ps(_mm512_cvtepi32_ps(a)); })},
    {"_mm512_reduce_add_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a) { return _mm512_reduce_add_epi32(a); })},
    {"_mm512_reduce_max_epu32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a) { return _mm512_reduce_max_epu32(a); })},
    {"_mm512_and_si512", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_and_si512(a, b); })},
    {"_mm512_xor_si512", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_xor_si512(a, b); })},
    {"_mm512_ternarylogic_epi64", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); })},
    {"_mm512_ternarylogic_epi64", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0xca); })},
    {"_mm512_add_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_add_epi32(a, b); })},
    {"_mm512_sub_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); })},
    {"_mm512_max_epu32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_max_epu32(a, b); })},
    {"_mm512_min_epi8", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_min_epi8(a, b); })},
    {"_mm512_slli_epi32", Needs::kAvx512, Compare::kBits, call([](__m512i a) { return _mm512_slli_epi32(a, 7); })},
    {"_mm512_dpwssd_epi32", Needs::kAvx512Vnni, Compare::kBits,
        call([](__m512i sum, __m512i a, __m512i b)
                __attribute__((target("avx512vnni"))) { return _mm512_dpwssd_epi32(sum, a, b); })},
    {"_mm512_dpbusd_epi32", Needs::kAvx512Vnni, Compare::kBits,
        call([](__m512i sum, __m512i a, __m512i b)
                __attribute__((target("avx512vnni"))) { return _mm512_dpbusd_epi32(sum, a, b); })},
    {"_mm512_packs_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_packs_epi32(a, b); })},
    {"_mm512_packs_epi16", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_packs_epi16(a, b); })},
    {"_mm512_inserti32x4", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m128i b) { return _mm512_inserti32x4(a, b, 1); })},
    {"_mm512_inserti32x4", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m128i b) { return _mm512_inserti32x4(a, b, 3); })},
    {"_mm512_unpacklo_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_unpacklo_epi32(a, b); })},
    {"_mm512_unpackhi_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_unpackhi_epi32(a, b); })},
    {"_mm512_unpacklo_epi64", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_unpacklo_epi64(a, b); })},
    {"_mm512_unpackhi_epi64", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_unpackhi_epi64(a, b); })},
    {"_mm512_permutexvar_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i index, __m512i a) { return _mm512_permutexvar_epi32(index, a); })},
    {"_mm512_alignr_epi32", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_alignr_epi32(a, b, 15); })},
    {"_mm512_shuffle_i32x4", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_shuffle_i32x4(a, b, 0x88); })},
    {"_mm512_shuffle_i32x4", Needs::kAvx512, Compare::kBits,
        call([](__m512i a, __m512i b) { return _mm512_shuffle_i32x4(a, b, 0xdd); })},
    {"_mm512_clmulepi64_epi128", Needs::kVpclmulqdq, Compare::kBits, call([
     ](__m512i a, __m512i b) __attribute__((target("vpclmulqdq"))) { return _mm512_clmulepi64_epi128(a, b, 0x00); })},
    {"_mm512_clmulepi64_epi128", Needs::kVpclmulqdq, Compare::kBits, call([
     ](__m512i a, __m512i b) __attribute__((target("vpclmulqdq"))) { return _mm512_clmulepi64_epi128(a, b, 0x11); })},
    {nullptr, Needs::kAvx2, Compare::kBits, nullptr},
};
}  // namespace goldcrest::test
