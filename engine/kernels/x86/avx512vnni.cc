// SPDX-License-Identifier: Apache-2.0
// x86-64 with AVX-512 (F, BW, DQ, VL) and VNNI. VPDPBUSD multiplies unsigned activations (x + 128) by signed weights,
// and the row sums of the file remove the 128 exactly.
#include "base/exact_floats.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__) || \
    !defined(__AVX512VNNI__)
#error "compile with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif
#include <immintrin.h>
#include <string.h>
#include "kernels/cpu_features.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "kernels/x86/avx512_crc32c-inl.h"

namespace goldcrest { namespace {
struct V {
  __m512 v;
};
struct Mask {
  __mmask16 m;
};

inline V load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline V load_first(const float* p, uint32_t n) {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p)};
}
inline void store(float* p, V x) { _mm512_storeu_ps(p, x.v); }
inline V set(float x) { return {_mm512_set1_ps(x)}; }
inline V operator+(V a, V b) { return {_mm512_add_ps(a.v, b.v)}; }
inline V operator-(V a, V b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline V operator*(V a, V b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline V operator/(V a, V b) { return {_mm512_div_ps(a.v, b.v)}; }
inline V negate(V x) { return {_mm512_xor_ps(x.v, _mm512_set1_ps(-0.0f))}; }
inline V negative(V x) { return {_mm512_or_ps(x.v, _mm512_set1_ps(-0.0f))}; }
inline Mask greater(V a, V b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
inline Mask not_less(V a, V b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
inline Mask not_greater(V a, V b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
inline V select(Mask mask, V yes, V no) { return {_mm512_mask_blend_ps(mask.m, no.v, yes.v)}; }
inline V keep(Mask mask, V x) { return select(mask, x, set(0.0f)); }
inline Mask first_lanes(uint32_t n) { return {static_cast<__mmask16>((1u << n) - 1)}; }
inline uint32_t true_lanes(Mask mask) { return mask.m; }
inline uint32_t true_lanes(Mask a, Mask b) { return true_lanes(a) | true_lanes(b) << 16; }

inline V larger(V x, V y) { return {_mm512_max_ps(x.v, y.v)}; }

inline V shifted(V x, float first) {
  const __m512i lanes = _mm512_castps_si512(x.v), before = _mm512_castps_si512(_mm512_set1_ps(first));
  return {_mm512_castsi512_ps(_mm512_alignr_epi32(lanes, before, 15))};
}
constexpr bool kListsInVectors = true;

struct Power {
  V value;
};

inline Power nearest_power(V x) { return {{_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}}; }
inline V scale_by_power_of_two(V p, Power n) { return {_mm512_scalef_ps(p.v, n.value.v)}; }
inline V subtract_exact(V x, V n, V c) { return {_mm512_fnmadd_ps(n.v, c.v, x.v)}; }

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

inline V widen_int8(__m128i bytes) { return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))}; }
inline V load_int8(const int8_t* p) { return widen_int8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
inline V load_int8_words(const int8_t* p) {
  return widen_int8(_mm_setr_epi32(load_word(p), load_word(p + 64), load_word(p + 128), load_word(p + 192)));
}

inline void store_int8(int8_t* p, V x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x.v)));
}
inline void store_int8(int8_t* p, const V (&x)[4]) {
  const __m512i low = _mm512_packs_epi32(_mm512_cvtps_epi32(x[0].v), _mm512_cvtps_epi32(x[1].v));
  const __m512i high = _mm512_packs_epi32(_mm512_cvtps_epi32(x[2].v), _mm512_cvtps_epi32(x[3].v));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high)));
}

inline void store_int16(int16_t* p, V x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(x.v)));
}

struct Pairs {
  __m512i v;
};

inline Pairs load_pairs(const int8_t* a, const int8_t* b) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  const __m256i low = _mm256_zextsi128_si256(_mm_unpacklo_epi8(first, second));
  return {_mm512_cvtepi8_epi16(_mm256_inserti128_si256(low, _mm_unpackhi_epi8(first, second), 1))};
}

// As Acc, below.
struct Sums {
  __v16si v;
};

inline Sums load_sums(const float* p) { return {reinterpret_cast<__v16si>(_mm512_loadu_ps(p))}; }
inline void store_sums(float* p, Sums x) { _mm512_storeu_ps(p, reinterpret_cast<__m512>(x.v)); }
inline V to_floats(Sums x) { return {_mm512_cvtepi32_ps(reinterpret_cast<__m512i>(x.v))}; }

inline Sums add_pairs(Sums sums, const Pairs& values, int32_t weights) {
  const __m512i both = _mm512_set1_epi32(weights);
  return {reinterpret_cast<__v16si>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums.v), values.v, both))};
}
constexpr int kPairRows = 8, kPairVectors = 2;  // queries and vectors of values that are multiplied together

constexpr int kBlockInputs = 4, kXBlocks = 1;

// Has the type of VPDPBUSD's sums, because GCC copies registers if a loop's variable has another type.
struct Acc {
  __v16si v;
};
struct X {
  __m512i v;
};
struct W {
  __m512i v;
};

inline Acc add(Acc a, Acc b) { return {a.v + b.v}; }

inline X broadcast(const int8_t* x) {
  return {_mm512_xor_si512(_mm512_set1_epi32(load_word(x)), _mm512_set1_epi8(-128))};
}

inline W load_panel(const int8_t* w) { return {_mm512_loadu_si512(w)}; }
inline W smaller_int8(W a, W b) { return {_mm512_min_epi8(a.v, b.v)}; }
inline W add_fours(W sums, W w) {  // adds separately: an addition waits less for the previous one than a product
  return {_mm512_add_epi32(sums.v, _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), w.v))};
}

template <int kRows> inline Acc accumulate(Acc acc, X x, int, const int8_t* w) {
  return {reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc.v), x.v, load_panel(w).v))};
}

inline V finish(Acc acc, const int32_t* weight_sum) {
  const __m512i excess = _mm512_slli_epi32(_mm512_loadu_si512(weight_sum), 7);
  return {_mm512_cvtepi32_ps(_mm512_sub_epi32(reinterpret_cast<__m512i>(acc.v), excess))};
}

// The same with weights + 128 and unchanged activations.
inline W load_unsigned(const int8_t* w) { return {_mm512_xor_si512(load_panel(w).v, _mm512_set1_epi8(-128))}; }
inline X broadcast_signed(const int8_t* x) { return {_mm512_set1_epi32(load_word(x))}; }

inline Acc accumulate_unsigned(Acc acc, W w, X x) {
  return {reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc.v), w.v, x.v))};
}

inline int32_t sum_inputs(const int8_t* x, uint32_t k) {
  const __m512i one = _mm512_set1_epi8(1);
  __m512i sum = _mm512_setzero_si512();
  uint32_t i = 0;
  for (; i + 64 <= k; i += 64) sum = _mm512_dpbusd_epi32(sum, one, _mm512_loadu_si512(x + i));
  const __mmask64 rest = (uint64_t{1} << (k - i)) - 1;
  if (i < k) sum = _mm512_dpbusd_epi32(sum, one, _mm512_maskz_loadu_epi8(rest, x + i));
  return _mm512_reduce_add_epi32(sum);
}

inline V finish_less(Acc acc, int32_t excess) {
  return {_mm512_cvtepi32_ps(_mm512_sub_epi32(reinterpret_cast<__m512i>(acc.v), _mm512_set1_epi32(excess)))};
}

// The same with activations to which 128 was added before.
inline void add_128(const int8_t* x, size_t n, int8_t* to) {
  const __m512i flip = _mm512_set1_epi8(-128);
  size_t i = 0;
  for (; i + 64 <= n; i += 64) _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(x + i), flip));
  const __mmask64 rest = (uint64_t{1} << (n - i)) - 1;
  if (i < n) _mm512_mask_storeu_epi8(to + i, rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, x + i), flip));
}

inline X broadcast_bytes(const int8_t* x) { return broadcast_signed(x); }

inline Acc accumulate_products(Acc acc, X x, W w) {
  return {reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc.v), x.v, w.v))};
}

inline Acc minus_128_times(const int32_t* sums) {
  const __m512i excess = _mm512_slli_epi32(_mm512_loadu_si512(sums), 7);
  return {reinterpret_cast<__v16si>(_mm512_sub_epi32(_mm512_setzero_si512(), excess))};
}

inline V to_floats(Acc acc) { return {_mm512_cvtepi32_ps(reinterpret_cast<__m512i>(acc.v))}; }

constexpr int kPackedTileRows = 4;
using GroupStart = int32_t;

// Nibbles are unsigned factors.
using PackedSums = Acc;

inline PackedSums start_group(int32_t start) { return {reinterpret_cast<__v16si>(_mm512_set1_epi32(start))}; }

inline W low_nibbles(W w) { return {_mm512_and_si512(w.v, _mm512_set1_epi8(15))}; }
inline W high_nibbles(W w) { return low_nibbles(W{reinterpret_cast<__m512i>(reinterpret_cast<__v16si>(w.v) >> 4)}); }

inline PackedSums add_nibbles(PackedSums sums, W nibbles, const int8_t* x) {
  return accumulate_unsigned(sums, nibbles, broadcast_signed(x));
}

inline Acc add_group(Acc acc, PackedSums sums, const int8_t* multipliers) {
  const __m512i m = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(multipliers)));
  return {acc.v + sums.v * reinterpret_cast<__v16si>(m)};
}

inline int32_t group_start(const int8_t* x, uint32_t n) { return -8 * sum_inputs(x, n); }

inline Acc packed_start(const int32_t* weight_sum) {
  return {reinterpret_cast<__v16si>(_mm512_slli_epi32(_mm512_loadu_si512(weight_sum), 7))};
}

// Partial sums of four keys in each quarter of the register.
struct FourDots {
  __m512i v;
};

// VPDPBUSD again: key + 128 is the unsigned factor, and 128 times the sum of q is subtracted.
template <typename Load>
inline void add_products(Load load_bytes, const int8_t* q, const int8_t* const (&keys)[4], __m512i (&sum)[4]) {
  const __m512i x = load_bytes(q), flip = _mm512_set1_epi8(-128);
  const __m512i excess = _mm512_dpbusd_epi32(_mm512_setzero_si512(), flip, x);
  for (int k = 0; k < 4; ++k) {
    const __m512i key = _mm512_xor_si512(load_bytes(keys[k]), flip);
    sum[k] = _mm512_dpbusd_epi32(_mm512_sub_epi32(sum[k], excess), key, x);
  }
}

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  const __m512i none = _mm512_setzero_si512();
  __m512i sum[4] = {none, none, none, none};
  uint32_t i = 0;
  const auto whole = [&](const int8_t* p) { return _mm512_loadu_si512(p + i); };
  if (n == 64) {
    add_products(whole, q, keys, sum);
  } else {
    for (; i + 64 <= n; i += 64) add_products(whole, q, keys, sum);
    const __mmask64 rest = (uint64_t{1} << (n - i)) - 1;
    if (i < n) add_products([&](const int8_t* p) { return _mm512_maskz_loadu_epi8(rest, p + i); }, q, keys, sum);
  }
  const __m512i two = _mm512_add_epi32(_mm512_unpacklo_epi32(sum[0], sum[1]), _mm512_unpackhi_epi32(sum[0], sum[1]));
  const __m512i more = _mm512_add_epi32(_mm512_unpacklo_epi32(sum[2], sum[3]), _mm512_unpackhi_epi32(sum[2], sum[3]));
  return {_mm512_add_epi32(_mm512_unpacklo_epi64(two, more), _mm512_unpackhi_epi64(two, more))};
}

// Returns the sums of neighbouring quarters: the two of a, then the two of b.
inline __m512i add_quarters(__m512i a, __m512i b) {
  return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

inline V join(const FourDots (&dots)[4]) {
  return {_mm512_cvtepi32_ps(add_quarters(add_quarters(dots[0].v, dots[1].v), add_quarters(dots[2].v, dots[3].v)))};
}

inline __m512i load_rows(const int8_t* from, size_t stride) {  // rows 0, 4, 8, 12
  const auto row = [&](size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * i * stride)); };
  const __m512i low = _mm512_inserti32x4(_mm512_zextsi128_si512(row(0)), row(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(low, row(2), 2), row(3), 3);
}

inline void transpose_words(const int8_t* from, size_t stride, int8_t* to) {
  const __m512i a = load_rows(from, stride), b = load_rows(from + stride, stride);
  const __m512i c = load_rows(from + 2 * stride, stride), d = load_rows(from + 3 * stride, stride);
  const __m512i ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);
  _mm512_storeu_si512(to, _mm512_unpacklo_epi64(ab_low, cd_low));
  _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi64(ab_low, cd_low));
  _mm512_storeu_si512(to + 128, _mm512_unpacklo_epi64(ab_high, cd_high));
  _mm512_storeu_si512(to + 192, _mm512_unpackhi_epi64(ab_high, cd_high));
}

// Vectors of values at a time, for each number of queries.
constexpr int kValueVectorsOf1 = 4, kValueVectorsOf2 = 4, kValueVectorsOf4 = 4;

// Exponentials that are computed together.
constexpr int kExpVectors = 4;

// Queries that share a pass over the keys.
constexpr uint32_t kMostShared = 8;

// For 1, 2, ... rows: the panels of a tile, and the accumulators that share a sum. One row reads its weights as one
// stream; more rows have enough sums to hide the latency, within 32 registers.
constexpr int kTilePanels[] = {1, 1, 4, 4, 2, 2, 2, 2};
constexpr int kTileSplits[] = {4, 4, 1, 1, 1, 1, 1, 1};
constexpr bool kFinishesTogether = true;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_pairs-inl.h"
#include "kernels/vector/tile-inl.h"
#include "kernels/x86/unsigned_inputs-inl.h"

namespace goldcrest {
namespace {
template <bool kPrefetchesFew, CacheLevel kKeysTo> constexpr Kernels make_table(const char* name) {
  Kernels table =
      make_vector_table<linear_by_rows, query_attention<kKeysTo>>(name, kCpuAvx2 | kCpuAvx512 | kCpuAvx512Vnni);
  table.int8.linear = linear_unsigned_inputs<kLongInputBytes, kPrefetchesFew>;
  table.int8.output_block = output_block_by<linear_unsigned_inputs<kInputBytes, kPrefetchesFew>>;
  table.linear_fine = linear_fine<kPrefetchesFew>;
  table.linear_packed = linear_packed_or_expanded;
  table.crc32c = crc32c_avx512;
  return table;
}
}  // namespace

extern const Kernels kernels_x86_avx512vnni;
constexpr Kernels kernels_x86_avx512vnni = for_this_build(make_table<true, CacheLevel::kFirst>("x86_avx512vnni"));

// AMD's CPUs read ahead themselves, if there is one stream: on Zen 4 a single row takes 1.03 to 1.25 times as long with
// prefetches. From memory four rows take 1.2 times as long with four streams, and eight rows 1.35 times with two.
// Prefetches to its first cache wait for 24 entries. From memory they bring 7 to 10 GB/s there, those to the second
// cache 10 to 17.
extern const Kernels kernels_x86_avx512vnni_amd;
constexpr Kernels kernels_x86_avx512vnni_amd =
    for_this_build(make_table<false, CacheLevel::kSecond>("x86_avx512vnni_amd"));
}  // namespace goldcrest
