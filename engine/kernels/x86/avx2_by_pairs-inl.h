// SPDX-License-Identifier: Apache-2.0
// A linear layer of one row on AVX2. Two neighbouring blocks of four activations share a VPMADDWD: the 16-bit sums of
// two products of one block are added to those of the other. Each of both lanes then holds four products, which fit as
// long as the magnitudes of their four activations add up to at most 258. Where they do not, the second block has
// zeros, and its products are added separately.

namespace goldcrest {
namespace {

constexpr uint32_t kMostInputs = 1024;  // of a row
constexpr int kMostFourSum = 258;       // 258 * 127 is the largest multiple of 127 below 2^15

// Two panels of longer rows take too much of a cache of 32 KiB together with the next two: a base model's translation
// took 1.2 times as long as by single panels.
constexpr uint32_t kShortRow = 256;

inline __m256i load_32(const int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// Loads 32 of the n activations that are left, or 16 with zeros behind them.
inline __m256i load_inputs(const int8_t* x, size_t n) {
  if (n >= 32) return load_32(x);
  return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

inline __v8si sum_words(__m256i a, __m256i b) { return reinterpret_cast<__v8si>(_mm256_madd_epi16(a, b)); }

struct PairedBlocks {
  alignas(32) int8_t magnitudes[kMostInputs];  // of the activations; zeros in the separate blocks
  uint32_t separate[kMostInputs / 8];          // first activations of these blocks
  size_t n_separate;
};

__attribute__((noinline)) void pair_blocks(const int8_t* x, size_t k, PairedBlocks& to) {
  to.n_separate = 0;
  for (size_t i = 0; i < k; i += 32) {
    const __m256i magnitudes = _mm256_abs_epi8(load_inputs(x + i, k - i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.magnitudes + i), magnitudes);
    const __m256i twos = _mm256_maddubs_epi16(magnitudes, _mm256_set1_epi8(1));
    const __m256i fours = _mm256_add_epi16(twos, _mm256_srli_epi64(twos, 32));  // in the first half of each 8 bytes
    const __m256i too_large = _mm256_cmpgt_epi16(fours, _mm256_set1_epi16(kMostFourSum));
    uint32_t bits = static_cast<uint32_t>(_mm256_movemask_epi8(too_large)) & 0x0f0f0f0fu;
    for (; bits != 0; bits &= ~(0xffu << __builtin_ctz(bits) / 8 * 8)) {
      const size_t second = i + static_cast<size_t>(__builtin_ctz(bits) / 8 * 8) + 4;
      memset(to.magnitudes + second, 0, 4);
      to.separate[to.n_separate++] = static_cast<uint32_t>(second);
    }
  }
}

template <int kPanels>
inline void multiply_pairs(const LinearArgs<int8_t>& args, const PairedBlocks& row, uint32_t output) {
  const size_t k = args.k, panel_bytes = 16 * k;
  const int8_t* const tile = args.w + output * k;
  const __m256i ones = _mm256_set1_epi16(1);
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 128);
  Acc sums[1][kPanels] = {};
  // Calls use(sum of eight outputs, their weights of the block that begins with activation i).
  const auto for_halves = [&](size_t i, auto use) {
    unrolled<kPanels>([&](int p) {
      const int8_t* const w = tile + static_cast<size_t>(p) * panel_bytes + 16 * i;
      use(sums[0][p].low, w);
      use(sums[0][p].high, w + 32);
    });
  };
  for (size_t i = 0; i < k; i += 8, soon.at += soon.step) {
    const __m256i magnitudes = broadcast_four(row.magnitudes + i), signs = broadcast_four(args.x + i);
    const __m256i more = broadcast_four(row.magnitudes + i + 4), more_signs = broadcast_four(args.x + i + 4);
    for_halves(i, [&](__v8si& sum, const int8_t* w) {
      const __m256i twos = _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(load_32(w), signs));
      const __m256i more_twos = _mm256_maddubs_epi16(more, _mm256_sign_epi8(load_32(w + 64), more_signs));
      sum += sum_words(_mm256_add_epi16(twos, more_twos), ones);
    });
    prefetch_tile<kPanels, 2>(tile, soon);
  }
  for (size_t s = 0; s < row.n_separate; ++s) {
    const __m256i x = broadcast_four(args.x + row.separate[s]);
    for_halves(row.separate[s],
               [&](__v8si& sum, const int8_t* w) { sum += reinterpret_cast<__v8si>(multiply(x, load_32(w))); });
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
