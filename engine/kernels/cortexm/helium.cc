// SPDX-License-Identifier: Apache-2.0
// Cortex-M with Helium (M55): VMLADAVA multiplies sixteen int8 and adds all products to one register, so a layer whose
// weights lie as N4K16 is one sequential stream of loads.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0
#include "kernels/cortexm/helium_rows-inl.h"

namespace goldcrest {
namespace {

// Sums of one row with the four outputs of an N4K16 panel, whose end w becomes. VMLADAVA adds to even registers alone:
// "Te".
inline int32x4_t dot_row(const int8_t* x, const int8_t*& w, uint32_t blocks) {
  int32x4_t sums;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  asm volatile(
      "dls lr, %[blocks]\n"
      "1:\n"
      "vldrb.8 q0, [%[x]], #16\n"
      "vldrb.8 q1, [%[w]], #64\n"
      "vmladava.s8 %[sum0], q0, q1\n"
      "vldrb.8 q2, [%[w], #-48]\n"
      "vmladava.s8 %[sum1], q0, q2\n"
      "vldrb.8 q1, [%[w], #-32]\n"
      "vmladava.s8 %[sum2], q0, q1\n"
      "vldrb.8 q2, [%[w], #-16]\n"
      "vmladava.s8 %[sum3], q0, q2\n"
      "le lr, 1b\n"
      "vmov %q[sums][2], %q[sums][0], %[sum0], %[sum2]\n"
      "vmov %q[sums][3], %q[sums][1], %[sum1], %[sum3]\n"
      : [x] "+r"(x), [w] "+r"(w), [sum0] "+Te"(sum0), [sum1] "+Te"(sum1), [sum2] "+Te"(sum2), [sum3] "+Te"(sum3),
        [sums] "=w"(sums)
      : [blocks] "r"(blocks)
      : "q0", "q1", "q2", "lr", "memory");
  return sums;
}

// The same for two rows. All eight even registers hold sums, lr too, so the loop counts by itself and the rest takes
// odd registers.
struct TwoRowSums {
  int32x4_t first, second;
};
inline TwoRowSums dot_two_rows(const int8_t* first_x, const int8_t* second_x, const int8_t*& panel, uint32_t n_blocks) {
  register const int8_t* x asm("r1") = first_x;
  register const int8_t* next_x asm("r3") = second_x;
  register const int8_t* w asm("r5") = panel;
  register uint32_t blocks asm("r9") = n_blocks;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, next0 = 0, next1 = 0, next2 = 0, next3 = 0;
  int32x4_t sums, next_sums;
  asm volatile(
      "1:\n"
      "vldrb.8 q0, [%[x]], #16\n"
      "vldrb.8 q1, [%[w]], #64\n"
      "vmladava.s8 %[sum0], q0, q1\n"
      "vldrb.8 q3, [%[next_x]], #16\n"
      "vmladava.s8 %[next0], q3, q1\n"
      "vldrb.8 q2, [%[w], #-48]\n"
      "vmladava.s8 %[sum1], q0, q2\n"
      "subs %[blocks], #1\n"
      "vmladava.s8 %[next1], q3, q2\n"
      "vldrb.8 q1, [%[w], #-32]\n"
      "vmladava.s8 %[sum2], q0, q1\n"
      "vmladava.s8 %[next2], q3, q1\n"
      "vldrb.8 q2, [%[w], #-16]\n"
      "vmladava.s8 %[sum3], q0, q2\n"
      "vmladava.s8 %[next3], q3, q2\n"
      "bne 1b\n"
      "vmov %q[sums][2], %q[sums][0], %[sum0], %[sum2]\n"
      "vmov %q[sums][3], %q[sums][1], %[sum1], %[sum3]\n"
      "vmov %q[next_sums][2], %q[next_sums][0], %[next0], %[next2]\n"
      "vmov %q[next_sums][3], %q[next_sums][1], %[next1], %[next3]\n"
      : [x] "+r"(x), [next_x] "+r"(next_x), [w] "+r"(w), [blocks] "+r"(blocks), [sum0] "+Te"(sum0), [sum1] "+Te"(sum1),
        [sum2] "+Te"(sum2), [sum3] "+Te"(sum3), [next0] "+Te"(next0), [next1] "+Te"(next1), [next2] "+Te"(next2),
        [next3] "+Te"(next3), [sums] "=w"(sums), [next_sums] "=&w"(next_sums)
      :
      : "q0", "q1", "q2", "q3", "cc", "memory");
  panel = w;
  return {sums, next_sums};
}

// Where the outputs of one row go.
struct OutputRow {
  OutputRow(const LinearArgs<int8_t>& args, uint32_t row)
      : x_scale(args.x_scale[row]),
        y(args.y + row * args.y_stride),
        residual(args.residual != nullptr ? args.residual + row * args.y_stride : nullptr),
        activation(args.activation) {}

  // Scale, bias, activation and residual for four outputs.
  void finish(uint32_t output, int32x4_t sums, V w_scale, V bias) const {
    V values = V{vcvtq_f32_s32(sums)} * (set(x_scale) * w_scale) + bias;
    if (activation != Activation::kNone) values = activate_outputs(activation, values);
    if (residual != nullptr) values = values + load(residual + output);
    store(y + output, values);
  }

  float x_scale;
  float* y;
  const float* residual;
  Activation activation;
};

// N4K16, one row over all outputs.
void linear_row(const LinearArgs<int8_t>& args, uint32_t row) {
  const OutputRow to(args, row);
  const int8_t* const x = args.x + size_t{row} * args.k;
  const int8_t* w = args.w;
  const float *const w_scale = args.w_scale, *const bias = args.bias;
  const uint32_t n = args.n, blocks = args.k / 16;
  for (uint32_t output = 0; output < n; output += 4) {
    const int32x4_t sums = dot_row(x, w, blocks);
    to.finish(output, sums, load(w_scale + output), load(bias + output));
  }
}

void linear_two_rows(const LinearArgs<int8_t>& args, uint32_t row) {
  const OutputRow to(args, row), to_next(args, row + 1);
  const int8_t* const x = args.x + size_t{row} * args.k;
  const int8_t* const next_x = x + args.k;
  const int8_t* w = args.w;
  const float *const w_scale = args.w_scale, *const bias = args.bias;
  const uint32_t n = args.n, blocks = args.k / 16;
  for (uint32_t output = 0; output < n; output += 4) {
    const TwoRowSums sums = dot_two_rows(x, next_x, w, blocks);
    to.finish(output, sums.first, load(w_scale + output), load(bias + output));
    to_next.finish(output, sums.second, load(w_scale + output), load(bias + output));
  }
}

// N16K4, a row at a time: products of two inputs are added in 16 bits, which both factors in [-127, 127] allow.
void linear_n16k4(const LinearArgs<int8_t>& args, uint32_t row) {
  const OutputRow to(args, row);
  const int8_t* x = args.x + size_t{row} * args.k;
  for (uint32_t output = 0; output < args.n; output += 16) {
    const int8_t* w = args.w + size_t{output} * args.k;
    int32x4_t sums[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
    for (uint32_t input = 0; input < args.k; input += 4, w += 64) {
      const int8x16_t inputs = vreinterpretq_s8_s32(vdupq_n_s32(load_word(x + input)));
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const int8x16_t weights = vldrbq_s8(w + 16 * i);
        const int16x8_t pairs = vaddq_s16(vmullbq_int_s8(inputs, weights), vmulltq_int_s8(inputs, weights));
        sums[i] = vaddq_s32(vaddq_s32(sums[i], vmovlbq_s16(pairs)), vmovltq_s16(pairs));
      }
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t first = output + 4 * i;
      to.finish(first, sums[i], load(args.w_scale + first), load(args.bias + first));
    }
  }
}

__attribute__((noinline)) void linear(const LinearArgs<int8_t>& args) {
  uint32_t row = 0;
  if (args.layout == Layout::kN16K4) {
    for (; row < args.rows; ++row) linear_n16k4(args, row);
    return;
  }
  for (; row + 2 <= args.rows; row += 2) linear_two_rows(args, row);
  if (row < args.rows) linear_row(args, row);
}

void output_block(const OutputBlockArgs<int8_t>& args) {
  linear(args.linear);
  output_block_sums(args);
}

// The four outputs of an N4K16 panel are sums over contiguous vectors.
bool weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  if (layout != Layout::kN4K16) return reference_weights_valid(w, weight_sum, n, k, layout);
  for (uint32_t output = 0; output < n; ++output) {
    const int8_t* weights = w + size_t{output / 4} * 4 * k + output % 4 * 16;
    int8x16_t least = vdupq_n_s8(0);
    int32_t sum = 0;
    for (uint32_t input = 0; input < k; input += 16, weights += 64) {
      const int8x16_t sixteen = vldrbq_s8(weights);
      least = vminq_s8(least, sixteen);
      sum = vaddvaq_s8(sum, sixteen);
    }
    if (vminvq_s8(0, least) == -128 || (weight_sum != nullptr && sum != weight_sum[output])) return false;
  }
  return true;
}

constexpr Kernels make_table() {
  Kernels table = kReferenceTable;
  table.name = "cortexm_helium";
  table.int8.quantize_rows = quantize_rows;
  table.int8.linear = linear;
  table.int8.attention = attention;
  table.int8.output_block = output_block;
  table.layer_norm = layer_norm;
#ifdef GOLDCREST_SSRU
  table.recurrence = recurrence<4>;
#endif
  table.weights_valid = weights_valid;
  return table;
}

}  // namespace

extern const Kernels kernels_cortexm_helium;
constexpr Kernels kernels_cortexm_helium = make_table();

}  // namespace goldcrest
#endif  // floating-point Helium
