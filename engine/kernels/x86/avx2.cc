// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2: VPMADDUBSW multiplies |x| by the weights with x's signs. Both are in [-127, 127], so the 16-bit
// sums of two products cannot saturate.
#include "base/exact_floats.h"

#if !defined(__AVX2__)
#error "compile with -mavx2"
#endif
#include "kernels/x86/avx2_vectors-inl.h"

namespace goldcrest {
namespace {

inline __v8si add_word_products(__v8si sums, __m256i a, __m256i b) {
  return sums + reinterpret_cast<__v8si>(_mm256_madd_epi16(a, b));
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
template <int kRows>
inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  const W weights = load_panel(w);
  const __m256i low = kRows == 1 ? multiply(x.v, weights.low) : multiply(weights.low, x.v);
  const __m256i high = kRows == 1 ? multiply(x.v, weights.high) : multiply(weights.high, x.v);
  return {acc.low + reinterpret_cast<__v8si>(low), acc.high + reinterpret_cast<__v8si>(high)};
}

inline V finish(Acc acc, const int32_t*) {
  return {_mm256_cvtepi32_ps(reinterpret_cast<__m256i>(acc.low)),
          _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(acc.high))};
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  return dot_four_by(q, keys, n,
                     [](__m256i x, __m256i key, __m256i sum) { return _mm256_add_epi32(sum, multiply(x, key)); });
}

// For 1, 2, ... rows: the panels of a tile, and the accumulators that share a sum. Two panels share a row's magnitudes.
constexpr int kTilePanels[] = {2, 1, 1, 1, 1, 1, 1, 1};
constexpr int kTileSplits[] = {1, 1, 1, 1, 1, 1, 1, 1};
constexpr bool kFinishesTogether = true;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/shared_pairs-inl.h"
#include "kernels/vector/tile-inl.h"
#include "kernels/x86/avx2_by_pairs-inl.h"
#include "kernels/x86/avx2_few_rows-inl.h"

namespace goldcrest {
namespace {

constexpr Kernels make_table() {
  Kernels table = make_vector_table<linear_without_signs>("x86_avx2", kCpuAvx2);
  table.int8.output_block = output_block_without_signs;
  table.crc32c = crc32c_words;
  return table;
}

}  // namespace

extern const Kernels kernels_x86_avx2;
constexpr Kernels kernels_x86_avx2 = for_this_build(make_table());

}  // namespace goldcrest
