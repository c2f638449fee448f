// SPDX-License-Identifier: Apache-2.0
// A linear layer of one row on AVX2. Two neighbouring blocks of four activations share a VPMADDWD: the 16-bit sums of
// two products of one block are added to those of the other. Each of both lanes then holds four products, which fit as
// long as the magnitudes of their four activations add up to at most 256. Where they do not, the second block has
// zeros, and its products are added separately.
//
// VPSIGNB takes one of the two units that multiply. Two panels of a short row do without: x * w is |x| * w, or for
// negative x |x| * ~w + |x|. The sum of these |x| is the same for all outputs, and the sums begin with it. A tiny model
// is translated 1.03 times as fast. Long rows wait for memory: a base model took up to 1.1 times as long with VPXOR.

namespace goldcrest {
namespace {
constexpr uint32_t kMostInputs = 1024;  // a row has at most these
constexpr int kMostFourSum = 256;       // 256 * -128 is -2^15; ~127 is -128

// Two panels of longer rows take too much of a cache of 32 KiB together with the next two: a base model's translation
// took 1.2 times as long as by single panels.
constexpr uint32_t kShortRow = 256;

inline __m256i load_32(const int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// Loads 32 of the n activations that are left, or 16 with zeros after them.
inline __m256i load_inputs(const int8_t* x, size_t n) {
  if (n >= 32) return load_32(x);
  return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

inline __v8si sum_words(__m256i a, __m256i b) { return reinterpret_cast<__v8si>(_mm256_madd_epi16(a, b)); }

inline int32_t sum_of(__m256i x) {
  const __m256i pairs = _mm256_hadd_epi32(x, x), fours = _mm256_hadd_epi32(pairs, pairs);
  return _mm_cvtsi128_si32(_mm256_castsi256_si128(fours)) + _mm_cvtsi128_si32(_mm256_extracti128_si256(fours, 1));
}

struct PairedBlocks {
  alignas(32) int8_t magnitudes[kMostInputs];  // the activations'; zeros in the separate blocks
  alignas(32) int8_t signs[kShortRow];         // a short row's: -1 for negative activations, else 0
  uint32_t separate[kMostInputs / 8];          // first activations of these blocks
  size_t n_separate;
  int32_t start;  // a short row's: the sum of the magnitudes of negative activations
};

__attribute__((noinline)) void pair_blocks(const int8_t* x, size_t k, PairedBlocks& to) {
  const __m256i ones = _mm256_set1_epi8(1), zero = _mm256_setzero_si256();
  __m256i start = zero;
  to.n_separate = 0;
  for (size_t i = 0; i < k; i += 32) {
    const __m256i inputs = load_inputs(x + i, k - i), magnitudes = _mm256_abs_epi8(inputs);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.magnitudes + i), magnitudes);
    if (k <= kShortRow) {
      const __m256i signs = _mm256_min_epi8(_mm256_sign_epi8(ones, inputs), zero);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.signs + i), signs);
      const __m256i negative = _mm256_maddubs_epi16(ones, _mm256_min_epi8(inputs, zero));
      start = _mm256_sub_epi32(start, _mm256_madd_epi16(negative, _mm256_set1_epi16(1)));
    }
    const __m256i twos = _mm256_maddubs_epi16(magnitudes, ones);
    const __m256i fours = _mm256_add_epi16(twos, _mm256_srli_epi64(twos, 32));  // in the first half of each 8 bytes
    const __m256i too_large = _mm256_cmpgt_epi16(fours, _mm256_set1_epi16(kMostFourSum));
    uint32_t bits = static_cast<uint32_t>(_mm256_movemask_epi8(too_large)) & 0x0f0f0f0fu;
    for (; bits != 0; bits &= ~(0xffu << __builtin_ctz(bits) / 8 * 8)) {
      const size_t second = i + static_cast<size_t>(__builtin_ctz(bits) / 8 * 8) + 4;
      memset(to.magnitudes + second, 0, 4);
      to.separate[to.n_separate++] = static_cast<uint32_t>(second);
    }
  }
  to.start = sum_of(start);
}

template <int kPanels>
inline void multiply_pairs(const LinearArgs<int8_t>& args, const PairedBlocks& row, uint32_t output) {
  const size_t k = args.k, panel_bytes = 16 * k;
  const int8_t* const tile = args.w + output * k;
  const __m256i ones = _mm256_set1_epi16(1);
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 128);
  Acc sums[1][kPanels];
  constexpr bool kInverts = kPanels == 2;  // weights, for negative activations
  const int8_t* const signs_of = kInverts ? row.signs : args.x;
  const __v8si start = reinterpret_cast<__v8si>(_mm256_set1_epi32(kInverts ? row.start : 0));
  unrolled<kPanels>([&](int p) { sums[0][p].low = sums[0][p].high = start; });
  // Calls use(sum of eight outputs, their weights of the block that begins with activation i).
  const auto for_halves = [&](size_t i, auto use) {
    unrolled<kPanels>([&](int p) {
      const int8_t* const w = tile + static_cast<size_t>(p) * panel_bytes + 16 * i;
      use(sums[0][p].low, w);
      use(sums[0][p].high, w + 32);
    });
  };
  // Returns the 16-bit sums of two products, of four activations by the weights at w.
  const auto twos_of = [](__m256i magnitudes, __m256i signs, const int8_t* w) {
    const __m256i weights = load_32(w);
    return _mm256_maddubs_epi16(
        magnitudes, kInverts ? _mm256_xor_si256(weights, signs) : _mm256_sign_epi8(weights, signs));
  };
  for (size_t i = 0; i < k; i += 8, soon.at += soon.step) {
    const __m256i magnitudes = broadcast_four(row.magnitudes + i), signs = broadcast_four(signs_of + i);
    const __m256i more = broadcast_four(row.magnitudes + i + 4), more_signs = broadcast_four(signs_of + i + 4);
    for_halves(i, [&](__v8si& sum, const int8_t* w) {
      const __m256i twos = twos_of(magnitudes, signs, w), more_twos = twos_of(more, more_signs, w + 64);
      sum += sum_words(_mm256_add_epi16(twos, more_twos), ones);
    });
    prefetch_tile<kPanels, 2>(tile, soon);
  }
  for (size_t s = 0; s < row.n_separate; ++s) {
    const __m256i signs = broadcast_four(signs_of + row.separate[s]);
    const __m256i magnitudes = _mm256_abs_epi8(broadcast_four(args.x + row.separate[s]));
    for_halves(
        row.separate[s], [&](__v8si& sum, const int8_t* w) { sum += sum_words(twos_of(magnitudes, signs, w), ones); });
  }
  finish_tile(args, 0, output, sums);
}

// flatten: sums stay in their registers from the first product to the output.
__attribute__((noinline, flatten)) void linear_row_by_pairs(const LinearArgs<int8_t>& layer) {
  PairedBlocks row;
  pair_blocks(layer.x, layer.k, row);
  multiply_one_row(layer, [&](const LinearArgs<int8_t>& args) {
    uint32_t output = 0;
    for (; args.k <= kShortRow && output + 32 <= args.n; output += 32) multiply_pairs<2>(args, row, output);
    for (; output < args.n; output += 16) multiply_pairs<1>(args, row, output);
  });
}
}  // namespace
}  // namespace goldcrest
