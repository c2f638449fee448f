// SPDX-License-Identifier: Apache-2.0
// Calls of the intrinsics of 128 and 256 bits. GOLDCREST_CALLS: native or emulated.
#include <immintrin.h>

#include "intrinsic_calls.h"

namespace goldcrest::test {

// With the immediate operands of the kernels.
constinit const IntrinsicCall GOLDCREST_CALLS::kAvx2Calls[] = {
    {"_mm_loadu_si128", Needs::kAvx2, Compare::kBits,
     call([](Memory m) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(m.bytes + 1)); })},
    {"_mm_storeu_si128", Needs::kAvx2, Compare::kBits, call([](__m128i a) {
       Memory m = {};
       _mm_storeu_si128(reinterpret_cast<__m128i*>(m.bytes + 1), a);
       return m;
     })},
    {"_mm_setr_epi32", Needs::kAvx2, Compare::kBits,
     call([](int a, int b, int c) { return _mm_setr_epi32(a, b, c, 7); })},
    {"_mm_set_epi64x", Needs::kAvx2, Compare::kBits,
     call([](long long a, long long b) { return _mm_set_epi64x(a, b); })},
    {"_mm_cvtsi32_si128", Needs::kAvx2, Compare::kBits, call([](int a) { return _mm_cvtsi32_si128(a); })},
    {"_mm_cvtsi128_si32", Needs::kAvx2, Compare::kBits, call([](__m128i a) { return _mm_cvtsi128_si32(a); })},
    {"_mm_cvtss_f32", Needs::kAvx2, Compare::kBits, call([](__m128 a) { return _mm_cvtss_f32(a); })},
    {"_mm_add_ps", Needs::kAvx2, Compare::kNumbers, call([](__m128 a, __m128 b) { return _mm_add_ps(a, b); })},
    {"_mm_max_ps", Needs::kAvx2, Compare::kBits, call([](__m128 a, __m128 b) { return _mm_max_ps(a, b); })},
    {"_mm_add_ss", Needs::kAvx2, Compare::kNumbers, call([](__m128 a, __m128 b) { return _mm_add_ss(a, b); })},
    {"_mm_max_ss", Needs::kAvx2, Compare::kBits, call([](__m128 a, __m128 b) { return _mm_max_ss(a, b); })},
    {"_mm_movehl_ps", Needs::kAvx2, Compare::kBits, call([](__m128 a, __m128 b) { return _mm_movehl_ps(a, b); })},
    {"_mm_movehdup_ps", Needs::kAvx2, Compare::kBits, call([](__m128 a) { return _mm_movehdup_ps(a); })},
    {"_mm_xor_si128", Needs::kAvx2, Compare::kBits, call([](__m128i a, __m128i b) { return _mm_xor_si128(a, b); })},
    {"_mm_max_epi32", Needs::kAvx2, Compare::kBits, call([](__m128i a, __m128i b) { return _mm_max_epi32(a, b); })},
    {"_mm_packs_epi16", Needs::kAvx2, Compare::kBits, call([](__m128i a, __m128i b) { return _mm_packs_epi16(a, b); })},
    {"_mm_unpackhi_epi64", Needs::kAvx2, Compare::kBits,
     call([](__m128i a, __m128i b) { return _mm_unpackhi_epi64(a, b); })},
    {"_mm_shuffle_epi32", Needs::kAvx2, Compare::kBits, call([](__m128i a) { return _mm_shuffle_epi32(a, 0x4e); })},
    {"_mm_shuffle_epi32", Needs::kAvx2, Compare::kBits, call([](__m128i a) { return _mm_shuffle_epi32(a, 0xb1); })},
    {"_mm_crc32_u8", Needs::kAvx2, Compare::kBits, call([](uint32_t crc, uint8_t a) { return _mm_crc32_u8(crc, a); })},
    {"_mm_crc32_u64", Needs::kAvx2, Compare::kBits,
     call([](uint32_t crc, uint64_t a) { return _mm_crc32_u64(crc, a); })},
    {"_mm_clmulepi64_si128", Needs::kPclmul, Compare::kBits,
     call([](__m128i a, __m128i b) __attribute__((target("pclmul"))) { return _mm_clmulepi64_si128(a, b, 0x00); })},
    {"_mm_clmulepi64_si128", Needs::kPclmul, Compare::kBits,
     call([](__m128i a, __m128i b) __attribute__((target("pclmul"))) { return _mm_clmulepi64_si128(a, b, 0x11); })},
    {"_mm256_loadu_ps", Needs::kAvx2, Compare::kBits,
     call([](Memory m) { return _mm256_loadu_ps(reinterpret_cast<const float*>(m.bytes + 4)); })},
    {"_mm256_loadu_si256", Needs::kAvx2, Compare::kBits,
     call([](Memory m) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(m.bytes + 1)); })},
    {"_mm256_storeu_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a) {
       Memory m = {};
       _mm256_storeu_ps(reinterpret_cast<float*>(m.bytes + 4), a);
       return m;
     })},
    {"_mm256_storeu_si256", Needs::kAvx2, Compare::kBits, call([](__m256i a) {
       Memory m = {};
       _mm256_storeu_si256(reinterpret_cast<__m256i*>(m.bytes + 1), a);
       return m;
     })},
    {"_mm256_maskload_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a, __m256i mask) {
       alignas(32) float m[8];
       _mm256_storeu_ps(m, a);
       return _mm256_maskload_ps(m, mask);
     })},
    {"_mm256_set1_ps", Needs::kAvx2, Compare::kBits, call([](float a) { return _mm256_set1_ps(a); })},
    {"_mm256_set1_epi8", Needs::kAvx2, Compare::kBits, call([](char a) { return _mm256_set1_epi8(a); })},
    {"_mm256_set1_epi16", Needs::kAvx2, Compare::kBits, call([](short a) { return _mm256_set1_epi16(a); })},
    {"_mm256_set1_epi32", Needs::kAvx2, Compare::kBits, call([](int a) { return _mm256_set1_epi32(a); })},
    {"_mm256_setr_epi32", Needs::kAvx2, Compare::kBits,
     call([](int a, int b, int c) { return _mm256_setr_epi32(a, b, c, 3, 4, a, b, c); })},
    {"_mm256_setzero_si256", Needs::kAvx2, Compare::kBits, call([]() { return _mm256_setzero_si256(); })},
    {"_mm256_castsi256_ps", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_castsi256_ps(a); })},
    {"_mm256_castps_si256", Needs::kAvx2, Compare::kBits, call([](__m256 a) { return _mm256_castps_si256(a); })},
    {"_mm256_castps256_ps128", Needs::kAvx2, Compare::kBits, call([](__m256 a) { return _mm256_castps256_ps128(a); })},
    {"_mm256_castsi256_si128", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_castsi256_si128(a); })},
    {"_mm256_zextsi128_si256", Needs::kAvx2, Compare::kBits, call([](__m128i a) { return _mm256_zextsi128_si256(a); })},
    {"_mm256_extractf128_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a) { return _mm256_extractf128_ps(a, 1); })},
    {"_mm256_extracti128_si256", Needs::kAvx2, Compare::kBits,
     call([](__m256i a) { return _mm256_extracti128_si256(a, 1); })},
    {"_mm256_add_ps", Needs::kAvx2, Compare::kNumbers, call([](__m256 a, __m256 b) { return _mm256_add_ps(a, b); })},
    {"_mm256_sub_ps", Needs::kAvx2, Compare::kNumbers, call([](__m256 a, __m256 b) { return _mm256_sub_ps(a, b); })},
    {"_mm256_mul_ps", Needs::kAvx2, Compare::kNumbers, call([](__m256 a, __m256 b) { return _mm256_mul_ps(a, b); })},
    {"_mm256_div_ps", Needs::kAvx2, Compare::kNumbers, call([](__m256 a, __m256 b) { return _mm256_div_ps(a, b); })},
    {"_mm256_max_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a, __m256 b) { return _mm256_max_ps(a, b); })},
    {"_mm256_xor_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a, __m256 b) { return _mm256_xor_ps(a, b); })},
    {"_mm256_cmp_ps", Needs::kAvx2, Compare::kBits,
     call([](__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); })},
    {"_mm256_cmp_ps", Needs::kAvx2, Compare::kBits,
     call([](__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); })},
    {"_mm256_blendv_ps", Needs::kAvx2, Compare::kBits,
     call([](__m256 a, __m256 b, __m256 mask) { return _mm256_blendv_ps(a, b, mask); })},
    {"_mm256_movemask_ps", Needs::kAvx2, Compare::kBits, call([](__m256 a) { return _mm256_movemask_ps(a); })},
    {"_mm256_cvtps_epi32", Needs::kAvx2, Compare::kBits, call([](__m256 a) { return _mm256_cvtps_epi32(a); })},
    {"_mm256_cvtepi32_ps", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_cvtepi32_ps(a); })},
    {"_mm256_cvtepi8_epi32", Needs::kAvx2, Compare::kBits, call([](__m128i a) { return _mm256_cvtepi8_epi32(a); })},
    {"_mm256_and_si256", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_and_si256(a, b); })},
    {"_mm256_xor_si256", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_xor_si256(a, b); })},
    {"_mm256_add_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_add_epi32(a, b); })},
    {"_mm256_sub_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); })},
    {"_mm256_max_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_max_epi32(a, b); })},
    {"_mm256_min_epi8", Needs::kAvx2, Compare::kBits, call([](__m256i a, __m256i b) { return _mm256_min_epi8(a, b); })},
    {"_mm256_cmpgt_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_cmpgt_epi32(a, b); })},
    {"_mm256_slli_epi32", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_slli_epi32(a, 7); })},
    {"_mm256_slli_epi32", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_slli_epi32(a, 23); })},
    {"_mm256_abs_epi8", Needs::kAvx2, Compare::kBits, call([](__m256i a) { return _mm256_abs_epi8(a); })},
    {"_mm256_sign_epi8", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_sign_epi8(a, b); })},
    {"_mm256_maddubs_epi16", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_maddubs_epi16(a, b); })},
    {"_mm256_madd_epi16", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_madd_epi16(a, b); })},
    {"_mm256_dpbusd_avx_epi32", Needs::kAvxVnni, Compare::kBits,
     call([](__m256i sum, __m256i a, __m256i b)
              __attribute__((target("avxvnni"))) { return _mm256_dpbusd_avx_epi32(sum, a, b); })},
    {"_mm256_hadd_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_hadd_epi32(a, b); })},
    {"_mm256_packs_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_packs_epi32(a, b); })},
    {"_mm256_packs_epi16", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_packs_epi16(a, b); })},
    {"_mm256_permutevar8x32_epi32", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i index) { return _mm256_permutevar8x32_epi32(a, index); })},
    {"_mm256_permute4x64_epi64", Needs::kAvx2, Compare::kBits,
     call([](__m256i a) { return _mm256_permute4x64_epi64(a, 0xd8); })},
    {"_mm256_permute2x128_si256", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_permute2x128_si256(a, b, 0x20); })},
    {"_mm256_permute2x128_si256", Needs::kAvx2, Compare::kBits,
     call([](__m256i a, __m256i b) { return _mm256_permute2x128_si256(a, b, 0x31); })},
    {nullptr, Needs::kAvx2, Compare::kBits, nullptr},
};

}  // namespace goldcrest::test
