// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2: VPMADDUBSW multiplies |x| by the weights with x's signs. Both are in [-127, 127], so the 16-bit
// sums of two products cannot saturate.
#include "base/exact_floats.h"

#if !defined(__AVX2__)
#error "compile with -mavx2"
#endif
#include "kernels/x86/avx2_vectors-inl.h"

namespace goldcrest { namespace {
inline __v8si add_word_products(__v8si sums, __m256i a, __m256i b) {
  return sums + reinterpret_cast<__v8si>(_mm256_madd_epi16(a, b));
}

// Hides a value from the compiler, whose own order takes more registers than there are.
inline __m256i in_register(__m256i x) {
#ifdef __AVX__  // tests also emulate the intrinsics on machines without such registers
  asm("" : "+x"(x));
#endif
  return x;
}

struct X {
  __m256i v;
};

inline X broadcast(const int8_t* x) { return {broadcast_four(x)}; }

// Sums of four products.
inline __m256i multiply(__m256i a, __m256i b) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

// Computes the magnitudes once for all products that share them: those of the activations for one row, else those of
// the weights.
template <int kRows> inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  const W weights = load_panel(w);
  const __m256i low = kRows == 1 ? multiply(x.v, weights.low) : multiply(weights.low, x.v);
  const __m256i high = kRows == 1 ? multiply(x.v, weights.high) : multiply(weights.high, x.v);
  return {acc.low + reinterpret_cast<__v8si>(low), acc.high + reinterpret_cast<__v8si>(high)};
}

inline V finish(Acc acc, const int32_t*) {
  return {
      _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(acc.low)), _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(acc.high))};
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  return dot_four_by(
      q, keys, n, [](__m256i x, __m256i key, __m256i sum) { return _mm256_add_epi32(sum, multiply(x, key)); });
}

constexpr int kPackedTileRows = 4;
using GroupStart = int32_t;

// Sums of 16 bits: two lanes for each output, with 8 * 127 * 16 as the largest magnitude in the end.
struct PackedSums {
  __m256i low, high;
};

inline PackedSums start_group(int32_t start) { return {_mm256_set1_epi32(start), _mm256_set1_epi32(start)}; }

inline PackedSums add_nibbles(PackedSums sums, W nibbles, const int8_t* x) {
  const __m256i four = broadcast_four(x);
  return {in_register(_mm256_add_epi16(sums.low, _mm256_maddubs_epi16(nibbles.low, four))),
      in_register(_mm256_add_epi16(sums.high, _mm256_maddubs_epi16(nibbles.high, four)))};
}

inline Acc add_group(Acc acc, PackedSums sums, const int8_t* multipliers) {
  const __m128i m = _mm_loadu_si128(reinterpret_cast<const __m128i*>(multipliers));
  return {add_word_products(acc.low, sums.low, _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(m, m))),
      add_word_products(acc.high, sums.high, _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(m, m)))};
}

// Returns -8 times the sums of the inputs of each lane: of the first two of four, and of the last two.
inline int32_t group_start(const int8_t* x, uint32_t n) {
  const auto sum_with = [](__m256i sums, __m256i order) {
    return _mm256_add_epi16(sums, _mm256_permutevar8x32_epi32(sums, order));
  };
  const __m256i inputs = n == 32 ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))
                                 : _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(1), inputs);
  sums = sum_with(sums, _mm256_setr_epi32(4, 5, 6, 7, 0, 1, 2, 3));
  sums = sum_with(sums, _mm256_setr_epi32(2, 3, 0, 1, 2, 3, 0, 1));
  sums = sum_with(sums, _mm256_setr_epi32(1, 0, 1, 0, 1, 0, 1, 0));
  const __m256i less = _mm256_slli_epi16(_mm256_sub_epi16(_mm256_setzero_si256(), sums), 3);
  return _mm_cvtsi128_si32(_mm256_castsi256_si128(less));
}

inline Acc packed_start(const int32_t*) { return Acc(); }

// For 1, 2, ... rows: the panels of a tile, and the accumulators that share a sum. Two panels share a row's magnitudes.
constexpr int kTilePanels[] = {2, 1, 1, 1, 1, 1, 1, 1};
constexpr int kTileSplits[] = {1, 1, 1, 1, 1, 1, 1, 1};
constexpr bool kFinishesTogether = true;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_pairs-inl.h"
#include "kernels/vector/tile-inl.h"
#include "kernels/x86/avx2_by_pairs-inl.h"

namespace goldcrest {
extern const Kernels kernels_x86_avx2;
constexpr Kernels kernels_x86_avx2 = for_this_build(make_packed_table<linear_by_pairs>("x86_avx2", kCpuAvx2));
}  // namespace goldcrest
