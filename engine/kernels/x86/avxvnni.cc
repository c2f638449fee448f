// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2 and AVX-VNNI. VPDPBUSD multiplies unsigned activations (x + 128) by signed weights, and the row sums
// of the file remove the 128 exactly. From three rows on the weights are unsigned instead.
#include "base/exact_floats.h"

#if !defined(__AVX2__) || !defined(__AVXVNNI__)
#error "compile with -mavx2 -mavxvnni"
#endif
#include "kernels/x86/avx2_vectors-inl.h"

namespace goldcrest { namespace {
inline __v8si add_word_products(__v8si sums, __m256i a, __m256i b) {
  return reinterpret_cast<__v8si>(_mm256_dpwssd_avx_epi32(reinterpret_cast<__m256i>(sums), a, b));
}

struct X {
  __m256i v;
};

inline X broadcast(const int8_t* x) { return {_mm256_xor_si256(broadcast_four(x), _mm256_set1_epi8(-128))}; }

template <int kRows> inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  const W weights = load_panel(w);
  return {reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.low), x.v, weights.low)),
      reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.high), x.v, weights.high))};
}

inline V finish(Acc acc, const int32_t* weight_sum) {
  const W sum = load_panel(reinterpret_cast<const int8_t*>(weight_sum));
  return {_mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.low), _mm256_slli_epi32(sum.low, 7))),
      _mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.high), _mm256_slli_epi32(sum.high, 7)))};
}

// The same with weights + 128 and unchanged activations.
inline W load_unsigned(const int8_t* w) {
  const __m256i flip = _mm256_set1_epi8(-128);
  const W weights = load_panel(w);
  return {_mm256_xor_si256(weights.low, flip), _mm256_xor_si256(weights.high, flip)};
}

inline X broadcast_signed(const int8_t* x) { return {broadcast_four(x)}; }

inline Acc accumulate_unsigned(Acc acc, W w, X x) {
  return {reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.low), w.low, x.v)),
      reinterpret_cast<__v8si>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc.high), w.high, x.v))};
}

inline int32_t sum_inputs(const int8_t* x, uint32_t k) {
  const __m256i one = _mm256_set1_epi8(1);
  __m256i sum = _mm256_setzero_si256();
  uint32_t i = 0;
  for (; i + 32 <= k; i += 32)
    sum = _mm256_dpbusd_avx_epi32(sum, one, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)));
  if (i < k) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    sum = _mm256_dpbusd_avx_epi32(sum, one, _mm256_zextsi128_si256(half));
  }
  sum = _mm256_hadd_epi32(sum, sum);
  sum = _mm256_hadd_epi32(sum, sum);
  return _mm_cvtsi128_si32(_mm256_castsi256_si128(sum)) + _mm_cvtsi128_si32(_mm256_extracti128_si256(sum, 1));
}

inline V finish_less(Acc acc, int32_t excess) {
  const __m256i all = _mm256_set1_epi32(excess);
  return {_mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.low), all)),
      _mm256_cvtepi32_ps(_mm256_sub_epi32(reinterpret_cast<__m256i>(acc.high), all))};
}

// Here key + 128 is the unsigned factor, and 128 times the sum of q is subtracted.
inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  return dot_four_by(q, keys, n, [](__m256i x, __m256i key, __m256i sum) {
    const __m256i flip = _mm256_set1_epi8(-128);
    const __m256i excess = _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), flip, x);
    return _mm256_dpbusd_avx_epi32(_mm256_sub_epi32(sum, excess), _mm256_xor_si256(key, flip), x);
  });
}

constexpr int kPackedTileRows = 4;
using GroupStart = int32_t;

// Nibbles are unsigned factors.
using PackedSums = Acc;

inline PackedSums start_group(int32_t start) {
  const auto all = reinterpret_cast<__v8si>(_mm256_set1_epi32(start));
  return {all, all};
}

inline PackedSums add_nibbles(PackedSums sums, W nibbles, const int8_t* x) {
  return accumulate_unsigned(sums, nibbles, broadcast_signed(x));
}

inline Acc add_group(Acc acc, PackedSums sums, const int8_t* multipliers) {
  const auto eight = [](const int8_t* m) {
    return reinterpret_cast<__v8si>(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(m))));
  };
  return {acc.low + sums.low * eight(multipliers), acc.high + sums.high * eight(multipliers + 8)};
}

inline int32_t group_start(const int8_t* x, uint32_t n) { return -8 * sum_inputs(x, n); }

inline Acc packed_start(const int32_t* weight_sum) {
  const W sum = load_panel(reinterpret_cast<const int8_t*>(weight_sum));
  return {reinterpret_cast<__v8si>(_mm256_slli_epi32(sum.low, 7)),
      reinterpret_cast<__v8si>(_mm256_slli_epi32(sum.high, 7))};
}

// For 1, 2, ... rows: the panels of a tile, and the accumulators that share a sum.
constexpr int kTilePanels[] = {1, 2, 1, 1, 1, 1};
constexpr int kTileSplits[] = {4, 1, 2, 1, 1, 1};
constexpr bool kFinishesTogether = true;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_pairs-inl.h"
#include "kernels/vector/tile-inl.h"
#include "kernels/x86/unsigned_weights-inl.h"

namespace goldcrest {
extern const Kernels kernels_x86_avxvnni;
constexpr Kernels kernels_x86_avxvnni =
    for_this_build(make_packed_table<linear_by_rows>("x86_avxvnni", kCpuAvx2 | kCpuAvxVnni));
}  // namespace goldcrest
