// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX2 and AVX-VNNI: VPDPBUSD multiplies unsigned activations (x + 128) by signed weights; the row sums of
// the file take the 128 back out, exactly.
#if !defined(__AVX2__) || !defined(__AVXVNNI__)
#error "compile with -mavx2 -mavxvnni"
#endif
#include "kernels/x86_avx2_vectors-inl.h"

namespace goldcrest {
namespace {

struct X {
  __m256i v;
};

inline X broadcast(const int8_t* x) { return {_mm256_xor_si256(broadcast_four(x), _mm256_set1_epi8(-128))}; }

inline Acc accumulate(Acc acc, X x, W w) {
  return {_mm256_dpbusd_avx_epi32(acc.low, x.v, w.low), _mm256_dpbusd_avx_epi32(acc.high, x.v, w.high)};
}

inline V finish(Acc acc, const int32_t* weight_sum) {
  const W sum = load_panel(reinterpret_cast<const int8_t*>(weight_sum));
  return {_mm256_cvtepi32_ps(_mm256_sub_epi32(acc.low, _mm256_slli_epi32(sum.low, 7))),
          _mm256_cvtepi32_ps(_mm256_sub_epi32(acc.high, _mm256_slli_epi32(sum.high, 7)))};
}

// A panel takes two of the 16 registers.
constexpr int kPanelsFor1 = 4, kPanelsFor2 = 2, kPanelsFor3 = 2, kPanelsFor4 = 1, kPanelsFor5 = 1, kPanelsFor6 = 1;
constexpr int kPanelsForMany = 4;
constexpr uint32_t kRowsForMany = 5;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector_kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_x86_avxvnni;
const Kernels kernels_x86_avxvnni = {
    "x86_avxvnni", kCpuAvx2 | kCpuAvxVnni, quantize_rows, linear,       reference_embed, layer_norm,
    attention,     output_block,           next_above,    crc32c_sse42, weights_valid,
};

}  // namespace goldcrest
