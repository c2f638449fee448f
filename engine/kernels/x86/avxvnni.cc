// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2 and AVX-VNNI: VPDPBUSD multiplies unsigned activations (x + 128) by signed weights; the row sums of
// the file take the 128 back out, exactly.
#if !defined(__AVX2__) || !defined(__AVXVNNI__)
#error "compile with -mavx2 -mavxvnni"
#endif
#include "kernels/x86/avx2_vectors-inl.h"

namespace goldcrest {
namespace {

struct X {
  __m256i v;
};

inline X broadcast(const int8_t* x) { return {_mm256_xor_si256(broadcast_four(x), _mm256_set1_epi8(-128))}; }

template <int kRows>
inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  const W weights = load_panel(w);
  return {reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.low), x.v, weights.low)),
          reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.high), x.v, weights.high))};
}

inline V finish(Acc acc, const int32_t* weight_sum) {
  const W sum = load_panel(reinterpret_cast<const int8_t*>(weight_sum));
  return {_mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.low), _mm256_slli_epi32(sum.low, 7))),
          _mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.high), _mm256_slli_epi32(sum.high, 7)))};
}

// Here key + 128 is the unsigned factor, and 128 times the sum of q comes out again.
inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  return dot_four_by(q, keys, n, [](__m256i x, __m256i key, __m256i sum) {
    const __m256i flip = _mm256_set1_epi8(-128);
    const __m256i excess = _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), flip, x);
    return _mm256_dpbusd_avx_epi32(_mm256_sub_epi32(sum, excess), _mm256_xor_si256(key, flip), x);
  });
}

// For 1, 2, ... rows: the panels of a tile, and how many accumulators share a sum.
constexpr int kTilePanels[] = {1, 2, 1, 1, 1, 1};
constexpr int kTileSplits[] = {4, 1, 2, 1, 1, 1};

}  // namespace
}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/tile-inl.h"

namespace goldcrest {
namespace {

constexpr Kernels make_table() {
  Kernels table = make_vector_table("x86_avxvnni", kCpuAvx2 | kCpuAvxVnni);
  table.crc32c = crc32c_words;
  return table;
}

}  // namespace

extern const Kernels kernels_x86_avxvnni;
constexpr Kernels kernels_x86_avxvnni = make_table();

}  // namespace goldcrest
