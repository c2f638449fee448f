// SPDX-License-Identifier: Apache-2.0
// Calls of the intrinsics of 512 bits. GOLDCREST_CALLS: native or emulated.
#include <immintrin.h>
#include "intrinsic_calls.h"

namespace goldcrest::test {
// The immediate operands are the kernels'.
constinit const IntrinsicCall GOLDCREST_CALLS::kAvx512Calls[] = {
    GOLDCREST_CALL(kAvx512, kBits, _mm512_loadu_ps, (Memory m), (m.bytes)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_loadu_si512, (Memory m), (m.bytes)),
    GOLDCREST_STORE(kAvx512, _mm512_storeu_ps, __m512, void*, 0),
    GOLDCREST_STORE(kAvx512, _mm512_storeu_si512, __m512i, void*, 0),
    GOLDCREST_STORE(kAvx512, _mm512_store_si512, __m512i, void*, 0),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_maskz_loadu_ps, (__mmask16 mask, Memory m), (mask, m.bytes)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_maskz_loadu_epi8, (__mmask64 mask, Memory m), (mask, m.bytes)),
    {Needs::kAvx512, Compare::kBits, "_mm512_mask_storeu_epi8", call([](__mmask64 mask, __m512i a) {
       Memory m = {};
       _mm512_mask_storeu_epi8(m.bytes, mask, a);
       return m;
     })},
    GOLDCREST_CALL(kAvx512, kBits, _mm512_set1_ps, (float a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_set1_epi8, (char a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_set1_epi32, (int a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_setr_epi32, (int a, int b, int c),
        (a, b, c, 3, 4, 5, 6, 7, a, b, c, 11, 12, 13, 14, 15)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_setzero_si512, (), ()),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_broadcast_i32x4, (__m128i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_castsi512_ps, (__m512i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_castps_si512, (__m512 a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_castps512_ps256, (__m512 a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_zextsi128_si512, (__m128i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_extractf32x8_ps, (__m512 a), (a, 1)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_add_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_sub_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_mul_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_div_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_fnmadd_ps, (__m512 a, __m512 b, __m512 c), (a, b, c)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_max_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_or_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_xor_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cmp_ps_mask, (__m512 a, __m512 b), (a, b, _CMP_GT_OQ)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cmp_ps_mask, (__m512 a, __m512 b), (a, b, _CMP_GE_OQ)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cmp_ps_mask, (__m512 a, __m512 b), (a, b, _CMP_LE_OQ)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_mask_blend_ps, (__mmask16 mask, __m512 a, __m512 b), (mask, a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtps_epi32, (__m512 a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtepi32_ps, (__m512i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtepi8_epi32, (__m128i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtepi8_epi16, (__m256i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtsepi32_epi16, (__m512i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_cvtsepi32_epi8, (__m512i a), (a)),
    GOLDCREST_CALL(
        kAvx512, kNumbers, _mm512_roundscale_ps, (__m512 a), (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)),
    GOLDCREST_CALL(kAvx512, kNumbers, _mm512_scalef_ps, (__m512 a, __m512 b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_reduce_max_ps, (__m512i a), (_mm512_cvtepi32_ps(a))),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_reduce_add_epi32, (__m512i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_reduce_max_epu32, (__m512i a), (a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_and_si512, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_xor_si512, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_ternarylogic_epi64, (__m512i a, __m512i b, __m512i c), (a, b, c, 0x96)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_ternarylogic_epi64, (__m512i a, __m512i b, __m512i c), (a, b, c, 0xca)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_add_epi32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_sub_epi32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_max_epu32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_min_epi8, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_slli_epi32, (__m512i a), (a, 7)),
    {Needs::kAvx512Vnni, Compare::kBits, "_mm512_dpwssd_epi32",
        call([](__m512i sum, __m512i a, __m512i b)
                __attribute__((target("avx512vnni"))) { return _mm512_dpwssd_epi32(sum, a, b); })},
    {Needs::kAvx512Vnni, Compare::kBits, "_mm512_dpbusd_epi32",
        call([](__m512i sum, __m512i a, __m512i b)
                __attribute__((target("avx512vnni"))) { return _mm512_dpbusd_epi32(sum, a, b); })},
    GOLDCREST_CALL(kAvx512, kBits, _mm512_packs_epi32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_packs_epi16, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_inserti32x4, (__m512i a, __m128i b), (a, b, 1)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_inserti32x4, (__m512i a, __m128i b), (a, b, 3)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_unpacklo_epi32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_unpackhi_epi32, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_unpacklo_epi64, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_unpackhi_epi64, (__m512i a, __m512i b), (a, b)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_permutexvar_epi32, (__m512i index, __m512i a), (index, a)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_alignr_epi32, (__m512i a, __m512i b), (a, b, 15)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_shuffle_i32x4, (__m512i a, __m512i b), (a, b, 0x88)),
    GOLDCREST_CALL(kAvx512, kBits, _mm512_shuffle_i32x4, (__m512i a, __m512i b), (a, b, 0xdd)),
    {Needs::kVpclmulqdq, Compare::kBits, "_mm512_clmulepi64_epi128", call([
     ](__m512i a, __m512i b) __attribute__((target("vpclmulqdq"))) { return _mm512_clmulepi64_epi128(a, b, 0x00); })},
    {Needs::kVpclmulqdq, Compare::kBits, "_mm512_clmulepi64_epi128", call([
     ](__m512i a, __m512i b) __attribute__((target("vpclmulqdq"))) { return _mm512_clmulepi64_epi128(a, b, 0x11); })},
    {Needs::kAvx2, Compare::kBits, nullptr, nullptr},
};
}  // namespace goldcrest::test
