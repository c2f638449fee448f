// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX-512 (F, BW, DQ, VL) and VNNI: VPDPBUSD multiplies unsigned activations (x + 128) by signed weights;
// the row sums of the file take the 128 back out, exactly.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__) || \
    !defined(__AVX512VNNI__)
#error "compile with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu_features.h"
#include "kernels/kernels.h"
#include "kernels/x86_crc32c-inl.h"

namespace goldcrest {
namespace {

struct V {
  __m512 v;
};
struct Mask {
  __mmask16 m;
};

inline V load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store(float* p, V x) { _mm512_storeu_ps(p, x.v); }
inline V set(float x) { return {_mm512_set1_ps(x)}; }
inline V operator+(V a, V b) { return {_mm512_add_ps(a.v, b.v)}; }
inline V operator-(V a, V b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline V operator*(V a, V b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline V operator/(V a, V b) { return {_mm512_div_ps(a.v, b.v)}; }
inline V negate(V x) { return {_mm512_xor_ps(x.v, _mm512_set1_ps(-0.0f))}; }
inline Mask greater(V a, V b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
inline Mask not_less(V a, V b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
inline V select(Mask mask, V yes, V no) { return {_mm512_mask_blend_ps(mask.m, no.v, yes.v)}; }
inline Mask first_lanes(uint32_t n) { return {static_cast<__mmask16>((1u << n) - 1)}; }
inline uint32_t first_true(Mask mask) { return static_cast<uint32_t>(__builtin_ctz(mask.m | 0x10000u)); }

inline V scale_by_power_of_two(V p, V n) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_cvtps_epi32(n.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.v), exponent))};
}

inline V max_magnitude(V a, V x) {
  const __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(x.v), _mm512_set1_epi32(0x7fffffff));
  return {_mm512_castsi512_ps(_mm512_max_epu32(_mm512_castps_si512(a.v), magnitude))};
}

inline uint32_t largest_bits(V x) { return _mm512_reduce_max_epu32(_mm512_castps_si512(x.v)); }

inline float sum_lanes(V x) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float largest_lane(V x) { return _mm512_reduce_max_ps(x.v); }

inline V load_int8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}

inline void store_int8(int8_t* p, V x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x.v)));
}

struct Acc {
  __m512i v;
};
struct X {
  __m512i v;
};
struct W {
  __m512i v;
};

inline Acc zero() { return {_mm512_setzero_si512()}; }

inline X broadcast(const int8_t* x) {
  int32_t four;
  memcpy(&four, x, sizeof four);
  return {_mm512_xor_si512(_mm512_set1_epi32(four), _mm512_set1_epi8(-128))};
}

inline W load_panel(const int8_t* w) { return {_mm512_loadu_si512(w)}; }
inline Acc accumulate(Acc acc, X x, W w) { return {_mm512_dpbusd_epi32(acc.v, x.v, w.v)}; }

inline V finish(Acc acc, const int32_t* weight_sum) {
  const __m512i excess = _mm512_slli_epi32(_mm512_loadu_si512(weight_sum), 7);
  return {_mm512_cvtepi32_ps(_mm512_sub_epi32(acc.v, excess))};
}

// Signed by signed through 16 bits: keys are short, and have no row sums.
inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  __m512i sum = _mm512_setzero_si512();
  uint32_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512i x = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i)));
    const __m512i y = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i)));
    sum = _mm512_dpwssd_epi32(sum, x, y);
  }
  if (i < n) {
    const __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256i y = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
    sum = _mm512_add_epi32(sum, _mm512_zextsi256_si512(_mm256_madd_epi16(x, y)));
  }
  return _mm512_reduce_add_epi32(sum);
}

// Panels of 16 outputs at a time for each number of rows: enough accumulators to hide the latency, within 32 registers.
constexpr int kPanelsFor1 = 8, kPanelsFor2 = 4, kPanelsFor3 = 4, kPanelsFor4 = 4, kPanelsFor5 = 2, kPanelsFor6 = 2;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 4;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector_kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_x86_avx512vnni;
const Kernels kernels_x86_avx512vnni = {
    "x86_avx512vnni", kCpuAvx2 | kCpuAvx512 | kCpuAvx512Vnni,
    quantize_rows,    linear,
    reference_embed,  layer_norm,
    attention,        output_block,
    next_above,       crc32c_sse42,
    weights_valid,
};

}  // namespace goldcrest
