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

namespace goldcrest {
namespace {
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
}  // namespace

extern const Kernels kernels_wasm_simd128;
constexpr Kernels kernels_wasm_simd128 = for_this_build(make_vector_table<linear>("wasm_simd128", 0));
}  // namespace goldcrest
#endif
