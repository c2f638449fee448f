// SPDX-License-Identifier: Apache-2.0
// WebAssembly with its vectors of 128 bits. i32x4.dot_i16x8_s multiplies int16 and adds pairs exactly, so int8 are
// widened when they are loaded: one instruction of x86 for eight of them, and one more for their products.
#include "base/exact_floats.h"

#if defined(__wasm_simd128__)
#include "kernels/wasm/simd128_vectors-inl.h"

namespace goldcrest { namespace {
// A sum for each of 16 outputs.
struct Acc {
  v128_t q[4];
};

inline V finish(Acc acc, const int32_t*) { return to_floats(acc.q); }

// Adds the lanes in pairs: those of a, then those of b.
inline v128_t add_pairs(v128_t a, v128_t b) {
  return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
}

// Vectors of values at a time, for each number of queries.
constexpr int kValueVectorsOf1 = 2, kValueVectorsOf2 = 1, kValueVectorsOf4 = 1;

// Exponentials that are computed together.
constexpr int kExpVectors = 1;

// Queries that share a pass over the keys.
constexpr uint32_t kMostShared = 8;

// The products of four keys.
struct FourDots {
  v128_t v;
};

inline FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], uint32_t n) {
  v128_t sum[4] = {};
  for (uint32_t i = 0; i < n; i += 8) {
    const v128_t x = wasm_i16x8_load8x8(q + i);
    for (int k = 0; k < 4; ++k)
      sum[k] = wasm_i32x4_add(sum[k], wasm_i32x4_dot_i16x8(x, wasm_i16x8_load8x8(keys[k] + i)));
  }
  return {add_pairs(add_pairs(sum[0], sum[1]), add_pairs(sum[2], sum[3]))};
}

inline V join(const FourDots (&dots)[4]) { return to_floats({dots[0].v, dots[1].v, dots[2].v, dots[3].v}); }

// For 1 and 2 rows: the panels of a tile, and the accumulators that share a sum.
constexpr int kTilePanels[] = {1, 1};
constexpr int kTileSplits[] = {1, 1};
constexpr bool kFinishesTogether = false;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/shared_pairs-inl.h"

namespace goldcrest { namespace {
// Multiplies rows by a panel of 16 outputs. Eight vectors hold sums, which leaves registers on x86: those of 16 outputs
// of one row, or of eight outputs of two rows in each of two passes. Each output has two lanes.
template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  static_assert(kRows <= 2 && kPanels == 1 && kSplit == 1, "all that is written here");
  constexpr int kPasses = kRows, kVectors = 8 / kRows;
  const size_t k = args.k;
  Acc acc[kRows][1];
  for (int pass = 0; pass < kPasses; ++pass) {
    const int8_t* x = args.x + first_row * k;
    const int8_t* w = args.w + first_output * k + 32 * pass;
    v128_t sums[kRows][kVectors] = {};
    for (size_t i = 0; i < k; i += 8, x += 8, w += 128) {
      v128_t first[kRows], last[kRows];  // four inputs, twice
      unrolled<kRows>([&](int r) {
        const v128_t inputs = wasm_i16x8_load8x8(x + static_cast<size_t>(r) * k);
        first[r] = low_halves(inputs, inputs);
        last[r] = high_halves(inputs, inputs);
      });
      unrolled<kVectors>([&](int v) {
        const v128_t weights = wasm_i16x8_load8x8(w + 8 * v);
        unrolled<kRows>(
            [&](int r) { sums[r][v] = wasm_i32x4_add(sums[r][v], wasm_i32x4_dot_i16x8(first[r], weights)); });
      });
      unrolled<kVectors>([&](int v) {
        const v128_t weights = wasm_i16x8_load8x8(w + 64 + 8 * v);
        unrolled<kRows>(
            [&](int r) { sums[r][v] = wasm_i32x4_add(sums[r][v], wasm_i32x4_dot_i16x8(last[r], weights)); });
      });
    }
    unrolled<kRows>([&](int r) {
      unrolled<kVectors / 2>(
          [&](int i) { acc[r][0].q[kVectors / 2 * pass + i] = add_pairs(sums[r][2 * i], sums[r][2 * i + 1]); });
    });
  }
  finish_tile(args, first_row, first_output, acc);
}

// For vector/packed-inl.h. A nibble is in the low or the high byte of an int16, next to that of the following input.
constexpr int kPackedTileRows = 2;
constexpr auto crc32c_words = kReferenceTable.crc32c;  // there is no instruction
using GroupStart = v128_t;
using PackedSums = Acc;

inline Acc packed_start(const int32_t*) { return {}; }
inline Acc start_group(v128_t start) { return {{start, start, start, start}}; }

inline W low_nibbles(W w) {
  for (v128_t& bytes : w.q) bytes = wasm_v128_and(bytes, wasm_i8x16_splat(15));
  return w;
}
inline W high_nibbles(W w) {
  for (v128_t& bytes : w.q) bytes = wasm_u8x16_shr(bytes, 4);
  return w;
}

inline Acc add_nibbles(Acc sums, W nibbles, const int8_t* x) {
  const v128_t inputs = wasm_v128_load32_splat(x);
  const v128_t even = wasm_i16x8_shr(wasm_i16x8_shl(inputs, 8), 8), odd = wasm_i16x8_shr(inputs, 8);
  for (int i = 0; i < 4; ++i) {
    const v128_t of_even = wasm_i32x4_dot_i16x8(wasm_v128_and(nibbles.q[i], wasm_i16x8_splat(255)), even);
    const v128_t of_odd = wasm_i32x4_dot_i16x8(wasm_u16x8_shr(nibbles.q[i], 8), odd);
    sums.q[i] = wasm_i32x4_add(wasm_i32x4_add(sums.q[i], of_even), of_odd);
  }
  return sums;
}

inline Acc add_group(Acc acc, const Acc& sums, const int8_t* multipliers) {
  for (int i = 0; i < 4; ++i) {
    const v128_t four = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(multipliers + 4 * i));
    acc.q[i] = wasm_i32x4_add(acc.q[i], wasm_i32x4_mul(sums.q[i], wasm_i32x4_extend_low_i16x8(four)));
  }
  return acc;
}

inline v128_t group_start(const int8_t* x, uint32_t n) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += x[i];
  return wasm_i32x4_splat(-8 * sum);
}
}}  // namespace goldcrest

#include "kernels/vector/packed-inl.h"

namespace goldcrest {
namespace {
// As in firmware, int8.linear takes packed weights. Two rows at a time keep the module small.
void linear_of_any(const LinearArgs<int8_t>& args) {
  if (!args.is_packed()) return linear(args);
  if (args.layout != Layout::kN16K4 || args.k > kMostPackedInputs) return reference_linear(args);
  for (uint32_t row = 0; row < args.rows; row += 2)
    row + 1 < args.rows ? packed_rows<2>(args, row) : packed_rows<1>(args, row);
}
}  // namespace

extern const Kernels kernels_wasm_simd128;
constexpr Kernels kernels_wasm_simd128 = for_this_build(make_vector_table<linear_of_any>("wasm_simd128", 0));
}  // namespace goldcrest
#endif
