// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2: VPMADDUBSW of |x| and the weights with x's signs. Both lie in [-127, 127], so the 16-bit sums of
// two products cannot saturate.
#if !defined(__AVX2__)
#error "compile with -mavx2"
#endif
#include "kernels/x86_avx2_vectors-inl.h"

namespace goldcrest {
namespace {

struct X {
  __m256i x, magnitude;
};

inline X broadcast(const int8_t* x) {
  const __m256i all = broadcast_four(x);
  return {all, _mm256_abs_epi8(all)};
}

inline __m256i accumulate_half(__m256i acc, X x, __m256i w) {
  const __m256i pairs = _mm256_maddubs_epi16(x.magnitude, _mm256_sign_epi8(w, x.x));
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

inline Acc accumulate(Acc acc, X x, W w) {
  return {accumulate_half(acc.low, x, w.low), accumulate_half(acc.high, x, w.high)};
}

inline V finish(Acc acc, const int32_t*) { return {_mm256_cvtepi32_ps(acc.low), _mm256_cvtepi32_ps(acc.high)}; }

// A panel takes two of the 16 registers.
constexpr int kPanelsFor1 = 2, kPanelsFor2 = 2, kPanelsFor3 = 1, kPanelsFor4 = 1, kPanelsFor5 = 1, kPanelsFor6 = 1;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 4;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector_kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_x86_avx2;
const Kernels kernels_x86_avx2 = {
    "x86_avx2", kCpuAvx2,     quantize_rows, linear,       reference_embed, layer_norm,
    attention,  output_block, next_above,    crc32c_sse42, weights_valid,
};

}  // namespace goldcrest
