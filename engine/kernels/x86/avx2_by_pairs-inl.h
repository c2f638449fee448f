// SPDX-License-Identifier: Apache-2.0
// Linear layers on AVX2 with three multiplying instructions for 64 products, where the tile of avx2.cc takes six: of
// both units that multiply, each VPSIGNB takes one too.
//
// x * w is |x| * w, or for negative x |x| * ~w + |x|. The sum of these |x| is the same for all outputs, and a row's
// sums begin with it; ~w is w ^ -1. Two neighbouring blocks of four activations share a VPMADDWD: the 16-bit sums of
// two products of one block are added to those of the other. Each of both lanes then holds four products, which fit as
// long as the magnitudes of their four activations add up to at most 256. Where they do not, the second block has
// zeros, and its products are added separately. Magnitudes and signs are laid out once for all outputs.

namespace goldcrest { namespace {
constexpr int kMostFourSum = 256;  // 256 * -128 is -2^15; ~127 is -128
constexpr int kMostRowsOfTile = 6;
constexpr uint32_t kMostLaidOut = 64, kPairedBytes = 36864;   // rows; their magnitudes and signs
constexpr uint32_t kMostPairedInputs = kPairedBytes / 2 / 4;  // four rows fit
constexpr uint32_t kNearBytes = 65536;                        // weights that many rows share from a cache

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

// Returns -1 for negative bytes, else 0.
inline __m256i signs_of(__m256i x) {
  return _mm256_min_epi8(_mm256_sign_epi8(_mm256_set1_epi8(1), x), _mm256_setzero_si256());
}

inline void store_16(int8_t* p, __m128i x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }

struct PairedRows {
  explicit PairedRows(uint8_t* at, size_t rows, size_t k)
      : inputs(reinterpret_cast<int8_t*>(at)),
        first_separate(reinterpret_cast<uint32_t*>(at + 2 * rows * k)),
        start(reinterpret_cast<int32_t*>(first_separate + rows + 1)),
        separate(reinterpret_cast<uint16_t*>(start + rows)) {}
  static size_t bytes(size_t rows, size_t k) { return rows * (2 * k + k / 8 * sizeof(uint16_t) + 8) + 8; }

  int8_t* inputs;            // for each tile [pairs of blocks][rows]: 8 magnitudes, 8 signs (0 or -1)
  uint32_t* first_separate;  // [rows + 1]: row r has entries [r, r + 1)
  int32_t* start;            // [rows]: the sum of the magnitudes of negative activations
  uint16_t* separate;        // the pairs whose second block is separate, row after row; one more is written
};

// Lays out a row of a tile with `rows` rows. separate: of the row. Returns its end.
__attribute__((noinline)) uint16_t* lay_out_row(
    const int8_t* x, size_t k, size_t rows, int8_t* to, uint16_t* separate, int32_t& start) {
  const __m256i ones = _mm256_set1_epi8(1), zero = _mm256_setzero_si256();
  const __m256i first = _mm256_setr_epi32(-1, 0, -1, 0, -1, 0, -1, 0);
  const size_t step = 16 * rows;
  __m256i of_negative = zero;
  for (size_t i = 0; i < k; i += 32, to += 4 * step) {
    const __m256i inputs = load_inputs(x + i, k - i), signs = signs_of(inputs);
    __m256i magnitudes = _mm256_abs_epi8(inputs);
    const __m256i negative = _mm256_maddubs_epi16(_mm256_and_si256(magnitudes, signs), ones);
    of_negative = _mm256_add_epi32(of_negative, _mm256_madd_epi16(negative, _mm256_set1_epi16(1)));
    const __m256i twos = _mm256_maddubs_epi16(magnitudes, ones);
    const __m256i fours = _mm256_add_epi16(twos, _mm256_srli_epi64(twos, 32));  // in the first half of each 8 bytes
    const __m256i too_large = _mm256_and_si256(first, _mm256_cmpgt_epi16(fours, _mm256_set1_epi16(kMostFourSum)));
    const __m256i fits = _mm256_cmpeq_epi32(too_large, zero), swapped = _mm256_setr_epi32(1, 0, 3, 2, 5, 4, 7, 6);
    magnitudes = _mm256_and_si256(magnitudes, _mm256_permutevar8x32_epi32(fits, swapped));
    const uint32_t large = ~static_cast<uint32_t>(_mm256_movemask_epi8(fits));
    unrolled<4>([&](int pair) {
      *separate = static_cast<uint16_t>(i / 8 + static_cast<size_t>(pair));
      separate += large >> (8 * pair) & 1;
    });
    const __m256i even = _mm256_unpacklo_epi64(magnitudes, signs), odd = _mm256_unpackhi_epi64(magnitudes, signs);
    store_16(to, _mm256_castsi256_si128(even));
    store_16(to + step, _mm256_castsi256_si128(odd));
    if (k - i < 32) break;
    store_16(to + 2 * step, _mm256_extracti128_si256(even, 1));
    store_16(to + 3 * step, _mm256_extracti128_si256(odd, 1));
  }
  start = sum_of(of_negative);
  return separate;
}

// Calls use(first, count) for tiles of nearly equal size.
template <typename Use> inline void for_tiles(uint32_t rows, Use use) {
  const uint32_t tiles = (rows + kMostRowsOfTile - 1) / kMostRowsOfTile;
  for (uint32_t tile = 0, row = 0, count = 0; tile < tiles; ++tile, row += count)
    use(row, count = (rows - row) / (tiles - tile));
}

void lay_out(const LinearArgs<int8_t>& args, const PairedRows& to) {
  const size_t k = args.k;
  uint16_t* separate = to.separate;
  for_tiles(args.rows, [&](uint32_t first, uint32_t count) {
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t row = first + r;
      to.first_separate[row] = static_cast<uint32_t>(separate - to.separate);
      int8_t* const inputs = to.inputs + 2 * k * first + 16 * r;
      separate = lay_out_row(args.x + row * k, k, count, inputs, separate, to.start[row]);
    }
  });
  to.first_separate[args.rows] = static_cast<uint32_t>(separate - to.separate);
}

template <int kRows, int kPanels>
inline void multiply_pairs(
    const LinearArgs<int8_t>& args, const PairedRows& rows, uint32_t first_row, uint32_t output) {
  const size_t k = args.k, panel_bytes = 16 * k;
  const int8_t *const tile = args.w + output * k, *w = tile;
  const int8_t *const of_tile = rows.inputs + 2 * k * first_row, *x = of_tile;
  const __m256i ones = in_register(_mm256_set1_epi16(1));
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 128);
  Acc sums[kRows][kPanels];
  unrolled<kRows>([&](int r) {
    const __v8si start = reinterpret_cast<__v8si>(_mm256_set1_epi32(rows.start[first_row + static_cast<uint32_t>(r)]));
    unrolled<kPanels>([&](int p) { sums[r][p].low = sums[r][p].high = start; });
  });
  const auto add_to = [](__v8si& sum, __v8si products) {
    sum = reinterpret_cast<__v8si>(in_register(reinterpret_cast<__m256i>(sum + products)));
  };
  for (size_t i = 0; i < k; i += 8, w += 128, x += 16 * kRows, soon.at += soon.step) {
    unrolled<kPanels>([&](int p) {
      __m256i weights[4];
      unrolled<4>([&](int j) {
        weights[j] = load_32(w + static_cast<size_t>(p) * panel_bytes + 32 * j);
        if (kRows > 1) weights[j] = in_register(weights[j]);
      });
      unrolled<kRows>([&](int r) {
        const int8_t* const of_row = x + 16 * r;
        const __m256i magnitudes = broadcast_four(of_row), signs = broadcast_four(of_row + 8);
        const __m256i more = broadcast_four(of_row + 4), more_signs = broadcast_four(of_row + 12);
        const auto fours_of = [&](__m256i block, __m256i next) {
          return _mm256_add_epi16(_mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(signs, block)),
              _mm256_maddubs_epi16(more, _mm256_xor_si256(more_signs, next)));
        };
        const __m256i low = fours_of(weights[0], weights[2]), high = fours_of(weights[1], weights[3]);
        add_to(sums[r][p].low, sum_words(low, ones));
        add_to(sums[r][p].high, sum_words(high, ones));
      });
    });
    prefetch_tile<kPanels, 2>(tile, soon);
  }
  unrolled<kRows>([&](int r) {
    const uint32_t row = first_row + static_cast<uint32_t>(r), end = rows.first_separate[row + 1];
    for (uint32_t s = rows.first_separate[row]; s < end; ++s) {
      const size_t pair = rows.separate[s], at = 8 * pair + 4;
      const __m256i magnitudes = _mm256_abs_epi8(broadcast_four(args.x + row * k + at));
      const __m256i signs = broadcast_four(of_tile + 16 * (pair * kRows + static_cast<size_t>(r)) + 12);
      unrolled<kPanels>([&](int p) {
        const int8_t* const of_block = tile + static_cast<size_t>(p) * panel_bytes + 16 * at;
        const auto twos_of = [&](const int8_t* from) {
          return _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(signs, load_32(from)));
        };
        sums[r][p].low += sum_words(twos_of(of_block), ones);
        sums[r][p].high += sum_words(twos_of(of_block + 32), ones);
      });
    }
  });
  finish_tile(args, first_row, output, sums);
}

// flatten: sums stay in their registers from the first product to the output.
template <int kRows>
__attribute__((noinline, flatten)) void multiply_panels(
    const LinearArgs<int8_t>& layer, const PairedRows& rows, uint32_t first_row, uint32_t output, uint32_t end) {
  const LinearArgs<int8_t> args = layer;  // a copy, which the stores cannot change
  if constexpr (kRows == 1) {
    for (; args.k <= kShortRow && output + 32 <= end; output += 32)
      multiply_pairs<kRows, 2>(args, rows, first_row, output);
  }
  for (; output < end; output += 16) multiply_pairs<kRows, 1>(args, rows, first_row, output);
}

template <int kMaxRows>
inline void multiply_rows(const LinearArgs<int8_t>& args, const PairedRows& rows, uint32_t first_row, uint32_t count,
    uint32_t output, uint32_t end) {
  if (count == kMaxRows) return multiply_panels<kMaxRows>(args, rows, first_row, output, end);
  if constexpr (kMaxRows > 1) multiply_rows<kMaxRows - 1>(args, rows, first_row, count, output, end);
}

// Many rows pass while some panels' weights stay in a cache. Panels pass one after another, so that the CPU guesses how
// many separate products a row has.
__attribute__((flatten)) void multiply_laid_out(const LinearArgs<int8_t>& layer, const PairedRows& rows) {
  multiply_then_activate(layer, [&](const LinearArgs<int8_t>& args) {
    const uint32_t fit = (kNearBytes / args.k + 15) / 16 * 16, step = args.rows <= kMostRowsOfTile ? args.n : fit;
    for (uint32_t output = 0; output < args.n; output += step) {
      const uint32_t end = output + step < args.n ? output + step : args.n;
      for_tiles(args.rows, [&](uint32_t first, uint32_t count) {
        multiply_rows<kMostRowsOfTile>(args, rows, first, count, output, end);
      });
    }
  });
}

__attribute__((noinline)) void linear_in_groups(const LinearArgs<int8_t>& args) {
  InputSpace<> space;
  const uint32_t fit = kPairedBytes / 2 / args.k, most = fit < kMostLaidOut ? fit : kMostLaidOut;
  const uint32_t groups = (args.rows + most - 1) / most;
  LinearArgs<int8_t> group = args;
  for (uint32_t i = 0, row = 0; i < groups; ++i, row += group.rows) {
    group.rows = (args.rows - row) / (groups - i);
    group.x = args.x + row * size_t{args.k};
    group.x_scale = args.x_scale + row;
    group.y = args.y + row * args.y_stride;
    if (args.residual != nullptr) group.residual = args.residual + row * args.y_stride;
    const PairedRows laid_out(space.bytes, group.rows, args.k);
    lay_out(group, laid_out);
    multiply_laid_out(group, laid_out);
  }
}

void linear_by_pairs(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.k > kMostPairedInputs) return linear(args);
  if (args.shared == nullptr || PairedRows::bytes(args.rows, args.k) > args.shared->n_bytes)
    return linear_in_groups(args);
  const PairedRows laid_out(args.shared->bytes, args.rows, args.k);
  if (!args.shared->made) lay_out(args, laid_out);
  args.shared->made = true;
  multiply_laid_out(args, laid_out);
}
}}  // namespace goldcrest
