// SPDX-License-Identifier: Apache-2.0
// Small linear layers of a few rows on AVX2, without the signs of avx2.cc. VPMADDUBSW adds two products of an unsigned
// and a signed factor in 16 bits, with saturation. With w + 127 (0 to 254) and unchanged activations nothing saturates
// if each pair of activations adds up to at most 129. Blocks of four activations for which this holds in all rows are
// narrow. The others are wide: VPMADDWD multiplies them in 16 bits. The activations of both are laid out once for all
// outputs, as memory operands in the order of the lanes. At the end 127 times the sum of the activations that met w +
// 127 is subtracted.

namespace goldcrest {
namespace {
constexpr uint32_t kMostFewRows = 6;
// Blocks are not read in the order of the file. If weights come from memory, this costs more than it saves.
constexpr uint32_t kMostWeights = 65536;
// Models with shorter rows are so small that their weights stay in the second-level cache and need no prefetch.
constexpr uint32_t kFromSecondLevel = 256;
constexpr size_t kLaidOutBytes = 40960;
constexpr int kOffset = 127, kMostPairSum = 129;  // 254 * 129 is the largest multiple of 254 below 2^15

// The activations of a row: one vector for each narrow block, and after these two for each wide one.
template <int kRows> struct LaidOut {
  static constexpr size_t kMost = kLaidOutBytes / (kRows * sizeof(__m256i));
  __m256i x[kMost][kRows];
  uint32_t weights_at[kMostInputs / 4];  // in a panel, for each block
  size_t n_narrow, n_wide;
  bool fits;
  __m256i start[kRows];  // minus the contribution of the weights' offsets
};

// Calls use(i) for each set bit i.
template <typename Use> inline void for_bits(uint32_t bits, Use use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<uint32_t>(__builtin_ctz(bits)));
}

template <int kRows> __attribute__((noinline, flatten)) void lay_out(const int8_t* x, size_t k, LaidOut<kRows>& to) {
  to.fits = k / 4 <= LaidOut<kRows>::kMost;
  if (!to.fits) return;
  const auto four_of = [&](size_t at, int r) { return broadcast_four(x + static_cast<size_t>(r) * k + at / 16); };
  auto* next = to.x;
  uint32_t* weights_at = to.weights_at;
  uint32_t wide_at[kMostInputs / 4];
  size_t n_wide = 0;
  __m256i sums[kRows] = {};
  for (size_t i = 0; i < k; i += 32) {
    const bool whole = k - i >= 32;
    __m256i largest = _mm256_setzero_si256();
    unrolled<kRows>([&](int r) {
      const __m256i inputs = load_inputs(x + static_cast<size_t>(r) * k + i, k - i);
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), inputs);
      largest = _mm256_max_epi16(largest, _mm256_abs_epi16(pairs));
      sums[r] = _mm256_sub_epi32(sums[r], _mm256_madd_epi16(pairs, _mm256_set1_epi16(kOffset)));
    });
    const __m256i too_large = _mm256_cmpgt_epi16(largest, _mm256_set1_epi16(kMostPairSum));
    const __m256i fits = _mm256_cmpeq_epi32(too_large, _mm256_setzero_si256());
    const uint32_t blocks = whole ? 255 : 15, first_at = static_cast<uint32_t>(16 * i);
    const uint32_t narrow = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(fits))) & blocks;
    for_bits(narrow, [&](uint32_t block) {
      const uint32_t at = first_at + 64 * block;
      *weights_at++ = at;
      unrolled<kRows>([&](int r) { (*next)[r] = four_of(at, r); });
      ++next;
    });
    for_bits(blocks & ~narrow, [&](uint32_t block) { wide_at[n_wide++] = first_at + 64 * block; });
  }
  to.n_narrow = static_cast<size_t>(next - to.x);
  to.n_wide = n_wide;
  to.fits = to.n_narrow + 2 * n_wide <= LaidOut<kRows>::kMost;
  if (!to.fits) return;
  __m256i odd_sums[kRows] = {};
  static_assert(kMostInputs / 4 * 127 < 32768);
  for (size_t i = 0; i < n_wide; ++i, next += 2) {
    const uint32_t at = wide_at[i];
    *weights_at++ = at;
    unrolled<kRows>([&](int r) {
      const __m256i four = four_of(at, r), even_256 = _mm256_slli_epi16(four, 8), odd = _mm256_srai_epi16(four, 8);
      next[0][r] = _mm256_srai_epi16(even_256, 8);
      next[1][r] = _mm256_sub_epi16(odd, even_256);
      odd_sums[r] = _mm256_add_epi16(odd_sums[r], odd);
    });
  }
  unrolled<kRows>([&](int r) {
    const __m256i of_odd = _mm256_madd_epi16(odd_sums[r], _mm256_set1_epi16(kOffset));
    to.start[r] = _mm256_add_epi32(_mm256_set1_epi32(sum_of(sums[r])), of_odd);
  });
}

// Hides an address from the compiler, so that it reads a memory operand again and does not keep it in a register.
template <typename T> inline void forget(const T*& p) { asm("" : "+r"(p)); }

inline __v8si sum_bytes(__m256i weights, __m256i x, __m256i ones) {
  return sum_words(_mm256_maddubs_epi16(weights, x), ones);
}

// Blocks the compiler's view of x: it keeps the order of such calls, and x in a register meanwhile.
inline __m256i in_register(__m256i x) {
#ifdef __AVX__  // tests also emulate the intrinsics on machines without such registers
  asm volatile("" : "+x"(x));
#endif
  return x;
}

// Adds in this order, because GCC's own order takes more registers than there are.
inline void add_to(__v8si& sum, __v8si products) {
  sum = reinterpret_cast<__v8si>(in_register(reinterpret_cast<__m256i>(sum + products)));
}

// Calls add_outputs(half of the sums, start of its weights) for the first eight outputs of a block, then for the last.
// The block's weights start `at` bytes after w, those of the next panel ahead_bytes further.
template <bool kPrefetches, typename Row, typename AddOutputs>
inline void add_block(const Row*& x, size_t at, const int8_t*& w, size_t ahead_bytes, AddOutputs add_outputs) {
  add_outputs(&Acc::low, at);
  forget(x);
  forget(w);
  add_outputs(&Acc::high, at + 32);
  forget(x);
  forget(w);
  if constexpr (kPrefetches) prefetch(w + at, ahead_bytes);
}

// Adds a narrow block, whose activations are `ahead` vectors after x.
template <bool kPrefetches, int kRows>
inline void add_narrow(const __m256i (*&x)[kRows], int ahead, size_t at, const int8_t*& w, __m256i offset, __m256i ones,
    size_t ahead_bytes, Acc (&sums)[kRows][1]) {
  add_block<kPrefetches>(x, at, w, ahead_bytes, [&](__v8si Acc::*half, size_t half_at) {
    const __m256i weights = _mm256_add_epi8(load_32(w + half_at), offset);
    unrolled<kRows>([&](int r) { add_to(sums[r][0].*half, sum_bytes(weights, x[ahead][r], ones)); });
  });
}

// Adds a wide block likewise. A word is 256 odd + even; 127 is added to the even weight, so that it is not negative:
//   word * x_even + odd * (x_odd - 256 x_even) = (even + 127) * x_even + odd * x_odd
template <bool kPrefetches, int kRows>
inline void add_wide(const __m256i (*&x)[kRows], int ahead, size_t at, const int8_t*& w, __m256i offset,
    size_t ahead_bytes, Acc (&sums)[kRows][1]) {
  add_block<kPrefetches>(x, at, w, ahead_bytes, [&](__v8si Acc::*half, size_t half_at) {
    const __m256i words = _mm256_add_epi8(load_32(w + half_at), offset);
    const __m256i odd = _mm256_srai_epi16(words, 8);
    unrolled<kRows>([&](int r) {
      add_to(sums[r][0].*half, sum_words(words, x[ahead][r]));
      add_to(sums[r][0].*half, sum_words(odd, x[ahead + 1][r]));
    });
  });
}

// flatten: sums stay in their registers from the first product to the output.
template <bool kPrefetches, int kRows>
__attribute__((noinline, flatten)) void multiply_panels(const LinearArgs<int8_t>& layer, const LaidOut<kRows>& rows) {
  const LinearArgs<int8_t> args = layer;  // a copy, which the stores cannot change
  const size_t panel_bytes = 16 * size_t{args.k};
  const size_t n_narrow = rows.n_narrow, n_wide = rows.n_wide;
  const uint32_t *const end_narrow = rows.weights_at + n_narrow, *const end = end_narrow + n_wide;
  const int8_t* panel = args.w;
  for (uint32_t output = 0; output < args.n; output += 16, panel += panel_bytes) {
    const int8_t* w = panel;
    Acc sums[kRows][1];
    unrolled<kRows>([&](int r) {
      sums[r][0] = {reinterpret_cast<__v8si>(rows.start[r]), reinterpret_cast<__v8si>(rows.start[r])};
    });
    const __m256i(*x)[kRows] = rows.x;
    const uint32_t* at = rows.weights_at;
    const __m256i ones = in_register(_mm256_set1_epi16(1));
    const __m256i of_bytes = in_register(_mm256_set1_epi8(kOffset));
    if (n_narrow % 2 != 0) {
      add_narrow<kPrefetches>(x, 0, at[0], w, of_bytes, ones, panel_bytes, sums);
      x += 1;
      at += 1;
    }
    if (n_narrow % 4 >= 2) {
      add_narrow<kPrefetches>(x, 0, at[0], w, of_bytes, ones, panel_bytes, sums);
      add_narrow<kPrefetches>(x, 1, at[1], w, of_bytes, ones, panel_bytes, sums);
      x += 2;
      at += 2;
    }
    for (; at != end_narrow; x += 4, at += 4) {
      add_narrow<kPrefetches>(x, 0, at[0], w, of_bytes, ones, panel_bytes, sums);
      add_narrow<kPrefetches>(x, 1, at[1], w, of_bytes, ones, panel_bytes, sums);
      add_narrow<kPrefetches>(x, 2, at[2], w, of_bytes, ones, panel_bytes, sums);
      add_narrow<kPrefetches>(x, 3, at[3], w, of_bytes, ones, panel_bytes, sums);
    }
    const __m256i of_words = in_register(_mm256_set1_epi16(kOffset));
    if (n_wide % 2 != 0) {
      add_wide<kPrefetches>(x, 0, *at, w, of_words, panel_bytes, sums);
      x += 2;
      ++at;
    }
    for (; at != end; x += 4, at += 2) {
      add_wide<kPrefetches>(x, 0, at[0], w, of_words, panel_bytes, sums);
      add_wide<kPrefetches>(x, 2, at[1], w, of_words, panel_bytes, sums);
    }
    finish_tile(args, 0, output, sums);
  }
}

template <int kRows> inline void multiply(const LinearArgs<int8_t>& args, const LaidOut<kRows>& rows) {
  return args.k < kFromSecondLevel ? multiply_panels<false>(args, rows) : multiply_panels<true>(args, rows);
}

template <int kRows> __attribute__((noinline)) bool linear_alone(const LinearArgs<int8_t>& args) {
  LaidOut<kRows> rows;
  lay_out<kRows>(args.x, args.k, rows);
  if (rows.fits) multiply(args, rows);
  return rows.fits;
}

template <int kRows> inline bool linear_of(const LinearArgs<int8_t>& args) {
  if (args.shared == nullptr) return linear_alone<kRows>(args);
  static_assert(sizeof(LaidOut<kRows>) <= sizeof args.shared->bytes);
  auto& rows = *reinterpret_cast<LaidOut<kRows>*>(args.shared->bytes);
  if (!args.shared->made) lay_out<kRows>(args.x, args.k, rows);
  args.shared->made = true;
  if (rows.fits) multiply(args, rows);
  return rows.fits;
}

template <uint32_t kMaxRows> inline bool linear_few_rows(const LinearArgs<int8_t>& args) {
  if (args.rows == kMaxRows) return linear_of<static_cast<int>(kMaxRows)>(args);
  if constexpr (kMaxRows > 2) return linear_few_rows<kMaxRows - 1>(args);
  return false;
}

// Computes the rows in groups of nearly equal size.
void linear_without_signs(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.k > kMostInputs) return linear(args);
  if (args.rows == 1) return linear_row_by_pairs(args);
  if (size_t{args.n} * args.k > kMostWeights) return linear(args);
  const uint32_t groups = (args.rows + kMostFewRows - 1) / kMostFewRows;
  LinearArgs<int8_t> group = args;
  if (groups > 1) group.shared = nullptr;
  for (uint32_t i = 0, row = 0; i < groups; ++i, row += group.rows) {
    group.rows = (args.rows - row) / (groups - i);
    group.x = args.x + row * size_t{args.k};
    group.x_scale = args.x_scale + row;
    group.y = args.y + row * args.y_stride;
    if (args.residual != nullptr) group.residual = args.residual + row * args.y_stride;
    if (!linear_few_rows<kMostFewRows>(group)) linear(group);
  }
}
}  // namespace
}  // namespace goldcrest
