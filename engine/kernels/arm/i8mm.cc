// SPDX-License-Identifier: Apache-2.0
// AArch64 with the int8 matrix instructions (Armv8.6; Neoverse V1, Cortex-A510 and later): SMMLA multiplies two rows by
// two outputs, eight inputs at once. Two blocks of an N16K4 panel zip to that form in registers, or for many rows once
// in memory; a single row goes the way of arm_dotprod.
#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "compile with -march=armv8.2-a+dotprod+i8mm"
#endif
#include "kernels/arm/dotprod_vectors-inl.h"

namespace goldcrest {
namespace {

// Of a single row: the panels of a tile, and how many accumulators share a sum.
constexpr int kTilePanels[] = {2};
constexpr int kTileSplits[] = {1};
constexpr bool kFinishesTogether = false;

}  // namespace
}  // namespace goldcrest

#include "kernels/vector/kernels-inl.h"
#include "kernels/vector/tile-inl.h"
// Over the ones above.
#include "kernels/arm/dotprod_linear-inl.h"

namespace goldcrest {
namespace {

// Two rows by four outputs, as SMMLA leaves them: outputs 0 and 1 of both rows, then outputs 2 and 3.
struct PairSums {
  int32x4_t even, odd;
};

// Four outputs by eight inputs in SMMLA's form: outputs 0 and 1, then 2 and 3.
struct PairWeights {
  int8x16_t even, odd;
};

// Of four outputs of two blocks at `w`.
inline PairWeights zip(const int8_t* w) {
  const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(w)), second = vreinterpretq_s32_s8(vld1q_s8(w + 64));
  return {vreinterpretq_s8_s32(vzip1q_s32(first, second)), vreinterpretq_s8_s32(vzip2q_s32(first, second))};
}

// Pairs of rows x one panel at `w`, [k / 8, 4] PairWeights where it is zipped. 12 sums of four outputs fit the
// registers beside inputs and weights.
template <int kPairs, bool kZipped>
inline void matrix_tile(const LinearArgs<int8_t>& args, const int8_t* w, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k;
  const int8_t* x = args.x + first_row * k;
  PairSums sums[kPairs][4];
  for (int p = 0; p < kPairs; ++p) {
    for (int i = 0; i < 4; ++i) sums[p][i] = {vdupq_n_s32(0), vdupq_n_s32(0)};
  }
  for (uint32_t block = 0; block < args.k; block += 8, w += 128) {
    int8x16_t inputs[kPairs];
    for (int p = 0; p < kPairs; ++p) {
      const int8_t* row = x + 2 * static_cast<size_t>(p) * k + block;
      inputs[p] = vcombine_s8(vld1_s8(row), vld1_s8(row + k));
    }
    for (int i = 0; i < 4; ++i) {
      const PairWeights weights =
          kZipped ? PairWeights{vld1q_s8(w + 32 * i), vld1q_s8(w + 32 * i + 16)} : zip(w + 16 * i);
      for (int p = 0; p < kPairs; ++p) {
        sums[p][i].even = vmmlaq_s32(sums[p][i].even, inputs[p], weights.even);
        sums[p][i].odd = vmmlaq_s32(sums[p][i].odd, inputs[p], weights.odd);
      }
    }
  }
  Acc acc[2 * kPairs][1];
  for (int p = 0; p < kPairs; ++p) {
    for (int i = 0; i < 4; ++i) {
      const PairSums& pair = sums[p][i];
      acc[2 * p][0].q[i] = vcombine_s32(vget_low_s32(pair.even), vget_low_s32(pair.odd));
      acc[2 * p + 1][0].q[i] = vcombine_s32(vget_high_s32(pair.even), vget_high_s32(pair.odd));
    }
  }
  finish_tile(args, first_row, first_output, acc);
}

template <int kPairs>
inline void matrix_rows(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output,
                        uint32_t end_output) {
  for (uint32_t output = first_output; output < end_output; output += 16)
    matrix_tile<kPairs, false>(args, args.w + size_t{output} * args.k, first_row, output);
}

// Rows that six do not divide.
inline void matrix_rest(const LinearArgs<int8_t>& args, uint32_t row, uint32_t first_output, uint32_t end_output) {
  const uint32_t rest = args.rows - row;
  if (rest >= 4) matrix_rows<2>(args, row, first_output, end_output);
  if (rest == 2 || rest == 3) matrix_rows<1>(args, row, first_output, end_output);
  if (rest % 2 == 1) linear_rows<1, true>(args, args.rows - 1, first_output, end_output);
}

// What zips once for several passes over a panel, on the stack.
constexpr uint32_t kZippedRows = 12, kZippedInputs = 2048;

__attribute__((noinline)) void linear_by_zipped_panels(const LinearArgs<int8_t>& args) {
  int8_t zipped[16 * kZippedInputs];
  for (uint32_t output = 0; output < args.n; output += 16) {
    const int8_t* w = args.w + size_t{output} * args.k;
    int8_t* to = zipped;
    for (uint32_t block = 0; block < args.k; block += 8, w += 128) {
      for (int i = 0; i < 4; ++i, to += 32) {
        const PairWeights weights = zip(w + 16 * i);
        vst1q_s8(to, weights.even);
        vst1q_s8(to + 16, weights.odd);
      }
    }
    uint32_t row = 0;
    for (; row + 6 <= args.rows; row += 6) matrix_tile<3, true>(args, zipped, row, output);
    matrix_rest(args, row, output, output + 16);
  }
}

void linear_by_pairs(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.rows == 1) return linear_by_dots<linear>(args);
  if (args.rows >= kZippedRows && args.k <= kZippedInputs) return linear_by_zipped_panels(args);
  // A group of panels stays in the first-level cache while the rows pass by.
  constexpr uint32_t kGroup = 16 * 4;
  for (uint32_t output = 0; output < args.n; output += kGroup) {
    const uint32_t end = output + kGroup < args.n ? output + kGroup : args.n;
    uint32_t row = 0;
    for (; row + 6 <= args.rows; row += 6) matrix_rows<3>(args, row, output, end);
    matrix_rest(args, row, output, end);
  }
}

void output_block_by_pairs(const OutputBlockArgs<int8_t>& args) {
  linear_by_pairs(args.linear);
  output_block_sums(args);
}

constexpr Kernels make_table() {
  Kernels table = make_vector_table("arm_i8mm", kCpuDotProduct | kCpuMatrixInt8);
  table.crc32c = crc32c_words;
  table.int8.linear = linear_by_pairs;
  table.int8.output_block = output_block_by_pairs;
  return table;
}

}  // namespace

extern const Kernels kernels_arm_i8mm;
constexpr Kernels kernels_arm_i8mm = make_table();

}  // namespace goldcrest
