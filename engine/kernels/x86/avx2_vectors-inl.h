// SPDX-License-Identifier: Apache-2.0
// The 16 lanes of vector/kernels-inl.h as two AVX2 registers.
#include <immintrin.h>
#include <string.h>
#include "kernels/cpu_features.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "kernels/x86/crc32c-inl.h"

namespace goldcrest { namespace {
struct V {
  __m256 low, high;
};
struct Mask {
  __m256 low, high;
};

inline V load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, V x) {
  _mm256_storeu_ps(p, x.low);
  _mm256_storeu_ps(p + 8, x.high);
}
inline V set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline V operator+(V a, V b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline V operator-(V a, V b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline V operator*(V a, V b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline V operator/(V a, V b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
inline V negate(V x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_xor_ps(x.low, sign), _mm256_xor_ps(x.high, sign)};
}
inline V negative(V x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(x.low, sign), _mm256_or_ps(x.high, sign)};
}
inline Mask greater(V a, V b) {
  return {_mm256_cmp_ps(a.low, b.low, _CMP_GT_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_GT_OQ)};
}
inline Mask not_less(V a, V b) {
  return {_mm256_cmp_ps(a.low, b.low, _CMP_GE_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_GE_OQ)};
}
inline Mask not_greater(V a, V b) {
  return {_mm256_cmp_ps(a.low, b.low, _CMP_LE_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_LE_OQ)};
}
inline V select(Mask mask, V yes, V no) {
  return {_mm256_blendv_ps(no.low, yes.low, mask.low), _mm256_blendv_ps(no.high, yes.high, mask.high)};
}
inline V keep(Mask mask, V x) { return {_mm256_and_ps(x.low, mask.low), _mm256_and_ps(x.high, mask.high)}; }

inline Mask first_lanes(uint32_t n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), count = _mm256_set1_epi32(static_cast<int32_t>(n));
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lane)),
      _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, _mm256_add_epi32(lane, _mm256_set1_epi32(8))))};
}

inline uint32_t true_lanes(Mask mask) {
  return static_cast<uint32_t>(_mm256_movemask_ps(mask.low)) | static_cast<uint32_t>(_mm256_movemask_ps(mask.high))
                                                                   << 8;
}

// Returns the lanes of two masks; the first mask's are in the low bits.
inline uint32_t true_lanes(Mask a, Mask b) {
  const __m256i words_a = _mm256_packs_epi32(_mm256_castps_si256(a.low), _mm256_castps_si256(a.high));
  const __m256i words_b = _mm256_packs_epi32(_mm256_castps_si256(b.low), _mm256_castps_si256(b.high));
  const __m256i bytes = _mm256_packs_epi16(words_a, words_b), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)));
}

inline V larger(V x, V y) { return {_mm256_max_ps(x.low, y.low), _mm256_max_ps(x.high, y.high)}; }

inline V shifted(V x, float first) {
  const auto rotated = [](__m256 eight) {
    const __m256i order = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(_mm256_castps_si256(eight), order));
  };
  const __m256 low = rotated(x.low);
  return {_mm256_blend_ps(low, _mm256_set1_ps(first), 1), _mm256_blend_ps(rotated(x.high), low, 1)};
}
constexpr bool kListsInVectors = true;

struct Power {
  V value;
  __m256i low, high;  // at the position of a float's exponent
};

inline Power nearest_power(V x) {
  const __m256i low = _mm256_cvtps_epi32(x.low), high = _mm256_cvtps_epi32(x.high);
  return {{_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high)}, _mm256_slli_epi32(low, 23), _mm256_slli_epi32(high, 23)};
}

inline __m256 scale_half(__m256 p, __m256i n) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), n));
}
inline V scale_by_power_of_two(V p, Power n) { return {scale_half(p.low, n.low), scale_half(p.high, n.high)}; }

inline V subtract_exact(V x, V n, V c) { return x - n * c; }

inline __m256 max_magnitude_half(__m256 a, __m256 x) {
  const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
  return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), magnitude));
}
inline V max_magnitude(V a, V x) { return {max_magnitude_half(a.low, x.low), max_magnitude_half(a.high, x.high)}; }

inline uint32_t largest_bits(V x) {
  const __m256i eight = _mm256_max_epi32(_mm256_castps_si256(x.low), _mm256_castps_si256(x.high));
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1))));
}

inline float sum_lanes(V x) {
  const __m256 eight = _mm256_add_ps(x.low, x.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float largest_lane(V x) {
  const __m256 eight = _mm256_max_ps(x.low, x.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline V load_first(const float* p, uint32_t n) {
  const Mask mask = first_lanes(n);
  return {
      _mm256_maskload_ps(p, _mm256_castps_si256(mask.low)), _mm256_maskload_ps(p + 8, _mm256_castps_si256(mask.high))};
}

inline V widen_int8(__m128i bytes) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
      _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes)))};
}
inline __m256 load_int8_half(const int8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline V load_int8(const int8_t* p) { return {load_int8_half(p), load_int8_half(p + 8)}; }
inline V load_int8_words(const int8_t* p) {
  return widen_int8(_mm_setr_epi32(load_word(p), load_word(p + 64), load_word(p + 128), load_word(p + 192)));
}

// Rounds to 16 bits, in the order of lanes 0 to 3, 8 to 11, 4 to 7, 12 to 15.
inline __m256i narrow_to_words(V x) {
  return _mm256_packs_epi32(_mm256_cvtps_epi32(x.low), _mm256_cvtps_epi32(x.high));
}

inline void store_int8(int8_t* p, V x) {
  const __m256i ordered = _mm256_permute4x64_epi64(narrow_to_words(x), 0xd8);
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}
inline void store_int8(int8_t* p, const V (&x)[4]) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (int i = 0; i < 4; i += 2) {
    const __m256i bytes = _mm256_packs_epi16(narrow_to_words(x[i]), narrow_to_words(x[i + 1]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 16 * i), _mm256_permutevar8x32_epi32(bytes, order));
  }
}

inline void store_int16(int16_t* p, V x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(narrow_to_words(x), 0xd8));
}

// Columns 0 to 7, 8 to 15.
struct Pairs {
  __m256i low, high;
};

inline Pairs load_pairs(const int8_t* a, const int8_t* b) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  return {
      _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second)), _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second))};
}

// As Acc, below.
struct Sums {
  __v8si low, high;
};

inline Sums load_sums(const float* p) {
  return {reinterpret_cast<__v8si>(_mm256_loadu_ps(p)), reinterpret_cast<__v8si>(_mm256_loadu_ps(p + 8))};
}
inline void store_sums(float* p, Sums x) {
  store(p, {reinterpret_cast<__m256>(x.low), reinterpret_cast<__m256>(x.high)});
}
inline V to_floats(Sums x) {
  return {_mm256_cvtepi32_ps(reinterpret_cast<__m256i>(x.low)), _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(x.high))};
}

// sums + the sums of two products of int16 each. Each table defines it.
inline __v8si add_word_products(__v8si sums, __m256i a, __m256i b);

inline Sums add_pairs(Sums sums, const Pairs& values, int32_t weights) {
  const __m256i both = _mm256_set1_epi32(weights);
  return {add_word_products(sums.low, values.low, both), add_word_products(sums.high, values.high, both)};
}
constexpr int kPairRows = 6, kPairVectors = 1;  // queries and vectors of values that are multiplied together

constexpr int kBlockInputs = 4, kXBlocks = 1;

// 16 int32, and 64 bytes of a panel: outputs 0 to 7, 8 to 15.
struct Acc {
  __v8si low, high;
};
struct W {
  __m256i low, high;
};

inline Acc add(Acc a, Acc b) { return {a.low + b.low, a.high + b.high}; }

inline W load_panel(const int8_t* w) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 32))};
}

inline W smaller_int8(W a, W b) { return {_mm256_min_epi8(a.low, b.low), _mm256_min_epi8(a.high, b.high)}; }

inline __m256i add_fours_half(__m256i sums, __m256i w) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), w);
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

inline W add_fours(W sums, W w) { return {add_fours_half(sums.low, w.low), add_fours_half(sums.high, w.high)}; }

inline __m256i low_nibbles(__m256i bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(15)); }
inline __m256i high_nibbles(__m256i bytes) {
  return low_nibbles(reinterpret_cast<__m256i>(reinterpret_cast<__v8si>(bytes) >> 4));
}
inline W low_nibbles(W w) { return {low_nibbles(w.low), low_nibbles(w.high)}; }
inline W high_nibbles(W w) { return {high_nibbles(w.low), high_nibbles(w.high)}; }

// Four activations in every lane.
inline __m256i broadcast_four(const int8_t* x) { return _mm256_set1_epi32(load_word(x)); }

inline __m256i load_rows(const int8_t* from, size_t stride) {  // rows 0, 4
  const auto row = [&](size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * stride)); };
  return _mm256_inserti128_si256(_mm256_zextsi128_si256(row(0)), row(4), 1);
}

inline void store_bytes(int8_t* p, __m256i bytes) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bytes); }

inline void transpose_words(const int8_t* from, size_t stride, int8_t* to) {
  for (int half = 0; half < 2; ++half, from += 8 * stride, to += 32) {
    const __m256i a = load_rows(from, stride), b = load_rows(from + stride, stride);
    const __m256i c = load_rows(from + 2 * stride, stride), d = load_rows(from + 3 * stride, stride);
    const __m256i ab_low = _mm256_unpacklo_epi32(a, b), ab_high = _mm256_unpackhi_epi32(a, b);
    const __m256i cd_low = _mm256_unpacklo_epi32(c, d), cd_high = _mm256_unpackhi_epi32(c, d);
    store_bytes(to, _mm256_unpacklo_epi64(ab_low, cd_low));
    store_bytes(to + 64, _mm256_unpackhi_epi64(ab_low, cd_low));
    store_bytes(to + 128, _mm256_unpacklo_epi64(ab_high, cd_high));
    store_bytes(to + 192, _mm256_unpackhi_epi64(ab_high, cd_high));
  }
}

// Vectors of values at a time, for each number of queries.
constexpr int kValueVectorsOf1 = 4, kValueVectorsOf2 = 2, kValueVectorsOf4 = 1;

// Exponentials that are computed together. In a row those of two rounds overlap, and more than two would spill
// registers.
constexpr int kExpVectors = 4;

// Queries that share a pass over the keys.
constexpr uint32_t kMostShared = 12;

// Partial sums of four keys in each half of the register.
struct FourDots {
  __m256i v;
};

// Returns the products of q with four keys. add_products(x, key, sum) takes 32 bytes of each. n % 16 == 0.
template <typename AddProducts>
inline FourDots dot_four_by(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n, AddProducts add_products) {
  const __m256i none = _mm256_setzero_si256();
  __m256i sum[4] = {none, none, none, none};
  uint32_t i = 0;
  const auto add_32 = [&] {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + i));
    for (int k = 0; k < 4; ++k)
      sum[k] = add_products(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys[k] + i)), sum[k]);
  };
  if (n == 64) {  // the most frequent size, without a loop
    add_32();
    i = 32;
    add_32();
  } else {
    for (; i + 32 <= n; i += 32) add_32();
    if (i < n) {
      const auto load_half = [&](const int8_t* p) {
        return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i)));
      };
      for (int k = 0; k < 4; ++k) sum[k] = add_products(load_half(q), load_half(keys[k]), sum[k]);
    }
  }
  return {_mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]))};
}

inline __m256 add_halves(FourDots a, FourDots b) {
  return _mm256_cvtepi32_ps(
      _mm256_add_epi32(_mm256_permute2x128_si256(a.v, b.v, 0x20), _mm256_permute2x128_si256(a.v, b.v, 0x31)));
}

inline V join(const FourDots (&dots)[4]) { return {add_halves(dots[0], dots[1]), add_halves(dots[2], dots[3])}; }
}}  // namespace goldcrest
