// SPDX-License-Identifier: Apache-2.0
// AArch64 with the int8 matrix instructions (Armv8.6; Neoverse V1, Cortex-A510 and later): SMMLA multiplies two rows by
// two outputs, eight inputs at once. Two blocks of an N16K4 panel zip to that form in registers; a single row goes the
// way of arm_dotprod.
#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "compile with -march=armv8.2-a+dotprod+i8mm"
#endif
#include "kernels/arm/dotprod_vectors-inl.h"

namespace goldcrest {
namespace {

// Of a single row: the panels of a tile, and how many accumulators share a sum.
constexpr int kTilePanels[] = {2};
constexpr int kTileSplits[] = {1};

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

// Pairs of rows x one panel. 12 sums of four outputs fit the registers beside inputs and weights.
template <int kPairs>
inline void matrix_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k;
  const int8_t* x = args.x + first_row * k;
  const int8_t* w = args.w + first_output * k;
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
      const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(w + 16 * i));
      const int32x4_t second = vreinterpretq_s32_s8(vld1q_s8(w + 64 + 16 * i));
      const int8x16_t even = vreinterpretq_s8_s32(vzip1q_s32(first, second));
      const int8x16_t odd = vreinterpretq_s8_s32(vzip2q_s32(first, second));
      for (int p = 0; p < kPairs; ++p) {
        sums[p][i].even = vmmlaq_s32(sums[p][i].even, inputs[p], even);
        sums[p][i].odd = vmmlaq_s32(sums[p][i].odd, inputs[p], odd);
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
  for (uint32_t output = first_output; output < end_output; output += 16) matrix_tile<kPairs>(args, first_row, output);
}

void linear_by_pairs(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.rows == 1) return linear_by_dots<linear>(args);
  // A group of panels stays in the first-level cache while the rows pass by.
  constexpr uint32_t kGroup = 16 * 4;
  for (uint32_t output = 0; output < args.n; output += kGroup) {
    const uint32_t end = output + kGroup < args.n ? output + kGroup : args.n;
    uint32_t row = 0;
    for (; row + 6 <= args.rows; row += 6) matrix_rows<3>(args, row, output, end);
    const uint32_t rest = args.rows - row;
    if (rest >= 4) matrix_rows<2>(args, row, output, end);
    if (rest == 2 || rest == 3) matrix_rows<1>(args, row, output, end);
    if (rest % 2 == 1) linear_rows<1, true>(args, args.rows - 1, output, end);
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
