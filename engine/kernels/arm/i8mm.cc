// SPDX-License-Identifier: Apache-2.0
// AArch64 with the int8 matrix instructions (Armv8.6; Neoverse V1, Cortex-A510 and later). SMMLA multiplies two rows by
// two outputs, eight inputs at once. Registers zip two blocks of an N16K4 panel to that form; the rows are zipped once,
// in memory. With many rows it is the other way round: the panels are zipped in memory, the rows in registers. A single
// row is computed as in arm_dotprod.
#include "base/exact_floats.h"

#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "compile with -march=armv8.2-a+dotprod+i8mm"
#endif
#include "kernels/arm/dotprod_vectors-inl.h"
#include "kernels/arm/widen_by_bits-inl.h"

namespace goldcrest { namespace {
// For a single row: the panels of a tile, and the accumulators that share a sum.
constexpr int kTilePanels[] = {2};
constexpr int kTileSplits[] = {1};
constexpr bool kFinishesTogether = false;
}}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/packed-inl.h"
#include "kernels/vector/shared_layer-inl.h"
#include "kernels/vector/tile-inl.h"
// This is written over the ones above.
#include "kernels/arm/dotprod_linear-inl.h"

namespace goldcrest {
void dotprod_attention(const AttentionArgs<int8_t>& args, Numbers numbers);  // arm_dotprod's

namespace {
// Two rows by four outputs, as SMMLA leaves them: outputs 0 and 1 of both rows, then outputs 2 and 3.
struct PairSums {
  int32x4_t even, odd;
};

// Four outputs by eight inputs in SMMLA's form: outputs 0 and 1, then 2 and 3.
struct PairWeights {
  int8x16_t even, odd;
};

// Zips the weights of four outputs in the two blocks at `w`.
inline PairWeights zip(const int8_t* w) {
  const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(w)), second = vreinterpretq_s32_s8(vld1q_s8(w + 64));
  return {vreinterpretq_s8_s32(vzip1q_s32(first, second)), vreinterpretq_s8_s32(vzip2q_s32(first, second))};
}

// Returns eight inputs of a row, then eight of the next row.
inline int8x16_t pair_inputs(const int8_t* row, size_t k) { return vcombine_s8(vld1_s8(row), vld1_s8(row + k)); }

// The operand that is brought to SMMLA's form in memory, before the tiles read it.
enum class Zipped { kRows, kPanel };

// Multiplies kPairs pairs of rows from `x` on by the panel at `w`. The zipped operand is stored as [kPairs, k / 8]
// pairs of inputs, or as [k / 8, 4] PairWeights. 12 sums of four outputs fit the registers together with inputs and
// weights.
template <int kPairs, Zipped kZipped>
inline void matrix_tile(
    const LinearArgs<int8_t>& args, const int8_t* x, const int8_t* w, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k;
  PairSums sums[kPairs][4];
  for (int p = 0; p < kPairs; ++p)
    for (int i = 0; i < 4; ++i) sums[p][i] = {vdupq_n_s32(0), vdupq_n_s32(0)};
  for (uint32_t block = 0; block < args.k; block += 8, w += 128) {
    int8x16_t inputs[kPairs];
    for (int p = 0; p < kPairs; ++p) {
      const int8_t* pair = x + 2 * static_cast<size_t>(p) * k;
      inputs[p] = kZipped == Zipped::kRows ? vld1q_s8(pair + 2 * size_t{block}) : pair_inputs(pair + block, k);
    }
    for (int i = 0; i < 4; ++i) {
      const PairWeights weights =
          kZipped == Zipped::kPanel ? PairWeights{vld1q_s8(w + 32 * i), vld1q_s8(w + 32 * i + 16)} : zip(w + 16 * i);
      for (int p = 0; p < kPairs; ++p) {
        sums[p][i].even = vmmlaq_s32(sums[p][i].even, inputs[p], weights.even);
        sums[p][i].odd = vmmlaq_s32(sums[p][i].odd, inputs[p], weights.odd);
      }
      // Keeps the weights of only one turn in registers: with three pairs clang would run out of them.
      if (kPairs == 3) asm volatile("" ::: "memory");
    }
  }
  Acc acc[2 * kPairs][1];
  for (int p = 0; p < kPairs; ++p) {
    for (int i = 0; i < 4; ++i) {
      const PairSums& pair = sums[p][i];
      const int64x2_t even = vreinterpretq_s64_s32(pair.even), odd = vreinterpretq_s64_s32(pair.odd);
      acc[2 * p][0].q[i] = vreinterpretq_s32_s64(vzip1q_s64(even, odd));
      acc[2 * p + 1][0].q[i] = vreinterpretq_s32_s64(vzip2q_s64(even, odd));
    }
  }
  finish_tile(args, first_row, first_output, acc);
}

// Multiplies kPairs pairs of rows by the panels of some outputs.
template <int kPairs>
inline void matrix_rows(
    const LinearArgs<int8_t>& args, const int8_t* x, uint32_t first_row, uint32_t first_output, uint32_t end_output) {
  for (uint32_t output = first_output; output < end_output; output += 16) {
    const int8_t* w = args.w + size_t{output} * args.k;
    matrix_tile<kPairs, Zipped::kRows>(args, x, w, first_row, output);
  }
}

// The largest operand that is zipped on the stack, once for several tiles.
constexpr uint32_t kZippedInputs = 2048, kZippedRows = 12;

// Computes some rows; their number may be odd.
__attribute__((noinline)) void linear_by_zipped_rows(
    const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t end_row) {
  const size_t k = args.k;
  int8_t zipped[kZippedRows * kZippedInputs], *to = zipped;
  for (uint32_t row = first_row; row + 2 <= end_row; row += 2) {
    const int8_t* x = args.x + row * k;
    for (size_t block = 0; block < k; block += 16, to += 32) {
      const int64x2_t a = vreinterpretq_s64_s8(vld1q_s8(x + block)), b = vreinterpretq_s64_s8(vld1q_s8(x + block + k));
      vst1q_s8(to, vreinterpretq_s8_s64(vzip1q_s64(a, b)));
      vst1q_s8(to + 16, vreinterpretq_s8_s64(vzip2q_s64(a, b)));
    }
  }
  // A group of panels stays in the first-level cache while the rows pass by.
  constexpr uint32_t kGroup = 16 * 4;
  for (uint32_t output = 0; output < args.n; output += kGroup) {
    const uint32_t end = output + kGroup < args.n ? output + kGroup : args.n;
    const int8_t* x = zipped;
    uint32_t row = first_row;
    for (; row + 6 <= end_row; row += 6, x += 6 * k) matrix_rows<3>(args, x, row, output, end);
    const uint32_t rest = end_row - row;
    if (rest >= 4) matrix_rows<2>(args, x, row, output, end);
    if (rest == 2 || rest == 3) matrix_rows<1>(args, x, row, output, end);
    if (rest % 2 == 1) linear_rows<1, true>(args, end_row - 1, output, end);
  }
}

__attribute__((noinline)) void linear_by_zipped_panels(const LinearArgs<int8_t>& args) {
  const size_t k = args.k;
  int8_t zipped[16 * kZippedInputs];
  for (uint32_t output = 0; output < args.n; output += 16) {
    const int8_t* w = args.w + output * k;
    int8_t* to = zipped;
    for (size_t block = 0; block < k; block += 8, w += 128) {
      for (int i = 0; i < 4; ++i, to += 32) {
        const PairWeights weights = zip(w + 16 * i);
        vst1q_s8(to, weights.even);
        vst1q_s8(to + 16, weights.odd);
      }
    }
    uint32_t row = 0;
    const int8_t* x = args.x;
    for (; row + 6 <= args.rows; row += 6, x += 6 * k) matrix_tile<3, Zipped::kPanel>(args, x, zipped, row, output);
    const uint32_t rest = args.rows - row;
    if (rest >= 4) matrix_tile<2, Zipped::kPanel>(args, x, zipped, row, output);
    if (rest == 2 || rest == 3) matrix_tile<1, Zipped::kPanel>(args, x, zipped, row, output);
    if (rest % 2 == 1) linear_rows<1, true>(args, args.rows - 1, output, output + 16);
  }
}

// Computes rows that are too long for zipped inputs on the stack.
__attribute__((noinline)) void linear_of_long_rows(const LinearArgs<int8_t>& args) {
  if (args.k > kZippedInputs * kZippedRows / 2) return linear(args);
  const uint32_t n = args.k <= 2 * kZippedInputs ? kZippedRows / 2 : 2;
  for (uint32_t row = 0; row < args.rows; row += n)
    linear_by_zipped_rows(args, row, row + n < args.rows ? row + n : args.rows);
}

void linear_by_pairs(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.rows == 1) return linear_by_dots<linear>(args);
  if (args.k > kZippedInputs) return linear_of_long_rows(args);
  if (args.rows >= kZippedRows) return linear_by_zipped_panels(args);
  linear_by_zipped_rows(args, 0, args.rows);
}
}  // namespace

extern const Kernels kernels_arm_i8mm;
constexpr Kernels kernels_arm_i8mm =
    for_this_build(make_packed_table<linear_by_pairs, dotprod_attention>("arm_i8mm", kI8mmNeeds));
}  // namespace goldcrest
