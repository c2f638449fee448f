// SPDX-License-Identifier: Apache-2.0
// Cortex-M with Helium (M55): VMLADAVA multiplies sixteen int8 and adds all products to one register, so a layer whose
// weights lie as N4K16 is one sequential stream of loads.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0
#include "kernels/cortexm/helium_rows-inl.h"

namespace goldcrest {
namespace {

// Loads and products take turns: each keeps its unit busy for two cycles, and the next of the other may begin in the
// second. So a product waits for no load where it comes one instruction later, the last one of a block in the next
// block. VMLADAVA adds to even registers alone: "Te". All eight hold sums, lr too, so that a loop counts by itself;
// `le` without lr goes back without a bubble. A turn is two blocks of sixteen inputs, the first turn of an odd number
// one.
#define GOLDCREST_HELIUM_LOOP(first, second, last) \
  "vmov.i32 q2, #0\n"                              \
  "lsrs %[blocks], %[blocks], #1\n"                \
  "adc %[blocks], %[blocks], #0\n"                 \
  "bcs 2f\n"                                       \
  "1:\n" first "2:\n" second                       \
  "beq 3f\n"                                       \
  "le 1b\n"                                        \
  "3:\n" last

struct EightSums {
  int32x4_t first, second;
};

// The sums of one row with the eight outputs of two N4K16 panels. x_vector: where its inputs go; before: those of the
// block before.
#define GOLDCREST_HELIUM_EIGHT_OUTPUTS(x_vector, before, count) \
  "vldrb.8 " x_vector                                           \
  ", [%[x]], #16\n"                                             \
  "vmladava.s8 %[sum7], " before                                \
  ", q2\n"                                                      \
  "vldrb.8 q1, [%[w]], #64\n" count                             \
  "vldrb.8 q2, [%[w], #-48]\n"                                  \
  "vmladava.s8 %[sum0], " x_vector                              \
  ", q1\n"                                                      \
  "vldrb.8 q1, [%[w], #-32]\n"                                  \
  "vmladava.s8 %[sum1], " x_vector                              \
  ", q2\n"                                                      \
  "vldrb.8 q2, [%[w], #-16]\n"                                  \
  "vmladava.s8 %[sum2], " x_vector                              \
  ", q1\n"                                                      \
  "vldrb.8 q1, [%[next_w]], #64\n"                              \
  "vmladava.s8 %[sum3], " x_vector                              \
  ", q2\n"                                                      \
  "vldrb.8 q2, [%[next_w], #-48]\n"                             \
  "vmladava.s8 %[sum4], " x_vector                              \
  ", q1\n"                                                      \
  "vldrb.8 q1, [%[next_w], #-32]\n"                             \
  "vmladava.s8 %[sum5], " x_vector                              \
  ", q2\n"                                                      \
  "vldrb.8 q2, [%[next_w], #-16]\n"                             \
  "vmladava.s8 %[sum6], " x_vector ", q1\n"
inline EightSums dot_row(const int8_t* row_x, const int8_t* panel, uint32_t n_blocks) {
  register const int8_t* x asm("r1") = row_x;
  register const int8_t* w asm("r3") = panel;
  register const int8_t* next_w asm("r5") = panel + 64 * n_blocks;
  register uint32_t blocks asm("r9") = n_blocks;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, sum4 = 0, sum5 = 0, sum6 = 0, sum7 = 0;
  int32x4_t first, second;
  asm volatile(
      GOLDCREST_HELIUM_LOOP(GOLDCREST_HELIUM_EIGHT_OUTPUTS("q0", "q3", ""),
                            GOLDCREST_HELIUM_EIGHT_OUTPUTS("q3", "q0", "subs %[blocks], #1\n"),
                            "vmladava.s8 %[sum7], q3, q2\n")
      "vmov %q[first][2], %q[first][0], %[sum0], %[sum2]\n"
      "vmov %q[first][3], %q[first][1], %[sum1], %[sum3]\n"
      "vmov %q[second][2], %q[second][0], %[sum4], %[sum6]\n"
      "vmov %q[second][3], %q[second][1], %[sum5], %[sum7]\n"
      : [x] "+r"(x), [w] "+r"(w), [next_w] "+r"(next_w), [blocks] "+r"(blocks), [sum0] "+Te"(sum0), [sum1] "+Te"(sum1),
        [sum2] "+Te"(sum2), [sum3] "+Te"(sum3), [sum4] "+Te"(sum4), [sum5] "+Te"(sum5), [sum6] "+Te"(sum6),
        [sum7] "+Te"(sum7), [first] "=w"(first), [second] "=&w"(second)
      :
      : "q0", "q1", "q2", "q3", "cc", "memory");
  return {first, second};
}

// The same of two rows with the four outputs of one panel, whose end is left in `panel`.
#define GOLDCREST_HELIUM_TWO_ROWS(count) \
  "vldrb.8 q0, [%[x]], #16\n"            \
  "vmladava.s8 %[next3], q3, q2\n"       \
  "vldrb.8 q1, [%[w]], #64\n"            \
  "vmladava.s8 %[sum0], q0, q1\n"        \
  "vldrb.8 q3, [%[next_x]], #16\n"       \
  "vmladava.s8 %[next0], q3, q1\n"       \
  "vldrb.8 q2, [%[w], #-48]\n"           \
  "vmladava.s8 %[sum1], q0, q2\n" count  \
  "vmladava.s8 %[next1], q3, q2\n"       \
  "vldrb.8 q1, [%[w], #-32]\n"           \
  "vmladava.s8 %[sum2], q0, q1\n"        \
  "vmladava.s8 %[next2], q3, q1\n"       \
  "vldrb.8 q2, [%[w], #-16]\n"           \
  "vmladava.s8 %[sum3], q0, q2\n"
inline EightSums dot_two_rows(const int8_t* first_x, const int8_t* second_x, const int8_t*& panel, uint32_t n_blocks) {
  register const int8_t* x asm("r1") = first_x;
  register const int8_t* next_x asm("r3") = second_x;
  register const int8_t* w asm("r5") = panel;
  register uint32_t blocks asm("r9") = n_blocks;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, next0 = 0, next1 = 0, next2 = 0, next3 = 0;
  int32x4_t sums, next_sums;
  asm volatile(
      GOLDCREST_HELIUM_LOOP(GOLDCREST_HELIUM_TWO_ROWS(""), GOLDCREST_HELIUM_TWO_ROWS("subs %[blocks], #1\n"),
                            "vmladava.s8 %[next3], q3, q2\n")
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
  for (uint32_t output = 0; output < n; output += 8, w += 128 * blocks) {
    const EightSums sums = dot_row(x, w, blocks);
    to.finish(output, sums.first, load(w_scale + output), load(bias + output));
    to.finish(output + 4, sums.second, load(w_scale + output + 4), load(bias + output + 4));
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
    const EightSums sums = dot_two_rows(x, next_x, w, blocks);
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
#pragma GCC unroll 1
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
#ifdef GOLDCREST_RULES
  table.logit_sums = logit_sums;
#endif
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
