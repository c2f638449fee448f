// SPDX-License-Identifier: Apache-2.0
// Cortex-M with the DSP extension (M4, M7, M33): SMLAD multiplies two pairs of 16-bit numbers and adds both products.
// Activations are expanded to such pairs once and used for many outputs; SXTB16 expands the weights, once for all rows
// of a tile.
#if defined(__ARM_FEATURE_DSP)
#include "kernels/cortexm/dsp_rows-inl.h"

namespace goldcrest {
namespace {

#if !defined(__OPTIMIZE__)
// The loops below take every register, of which an unoptimized build keeps some for itself.
void linear(const LinearArgs<int8_t>& args) { reference_linear(args); }
#else

// Four inputs of one row take two words: inputs 0 and 2, inputs 1 and 3. kExpandedWords of them lie on the stack.
constexpr uint32_t kExpandedWords = 256;
constexpr uint32_t kTileRows = 4;

// Expanded inputs of a tile's rows, block by block: for each four inputs the pairs of all rows.
struct Chunk {
  const uint32_t* x;  // [blocks, rows, 2]
  const uint32_t* end;
  uint32_t odd;    // blocks of the first turn, a multiple of 4, where it is not whole; else 0
  size_t w_bytes;  // of a panel's weights for them
  bool continued;  // adds to the outputs
};

// One output of a tile: the sum of its products, later its scaled value.
union Output {
  int32_t sum;
  float value;
};

// A Cortex-M7 issues two instructions a cycle, of which one may multiply and the first may extend, and a pair or a
// multiple of registers alone: so SXTB16 and SMLAD alternate, what a product needs is there two cycles before it, and
// the weights of the next block are loaded among the products of this one. Behind the last block they are not read.
//
// A turn is some blocks of four inputs; the first turn begins in its middle where `blocks` says. Repeated text is
// written out and not given to .rept: the compiler counts an assembler block's lines to know how far its constants may
// lie. The end of x lies in memory, as the loops take every register but one.
#define GOLDCREST_DSP_SMLAD(sum, a, b) "smlad %[" #sum "], " a ", " b ", %[" #sum "]\n"

// Four inputs of one row by four outputs, of which w0 to w3 are the weights; the last product comes in the next block.
#define GOLDCREST_DSP_FOUR_OUTPUTS(load) \
  "sxtb16 %[even], %[w0]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum3, "%[w3]", "%[x_odd]")                         \
  "ldrd %[x_even], %[x_odd], [%[x]], #8\n"                               \
  "ldrd %[w2], %[w3], [%[w]], #56\n"                                     \
  "sxtb16 %[w0], %[w0], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum0, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w1]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum0, "%[w0]", "%[x_odd]")                         \
  "sxtb16 %[w1], %[w1], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w2]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum1, "%[w1]", "%[x_odd]")                         \
  load                                                                   \
  "sxtb16 %[w2], %[w2], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w3]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum2, "%[w2]", "%[x_odd]")                         \
  "sxtb16 %[w3], %[w3], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum3, "%[even]", "%[x_even]")

// outputs[j] (+)= products of one row with four outputs of a panel.
// w: the first of the four outputs in a panel; its next four inputs lie 64 bytes on.
inline void add_products_of_row(const Chunk& chunk, const int8_t* w, Output* outputs) {
  const uint32_t* x = chunk.x;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  if (chunk.continued) sum0 = outputs[0].sum, sum1 = outputs[1].sum, sum2 = outputs[2].sum, sum3 = outputs[3].sum;
  uint32_t x_even, x_odd = 0, w0, w1, w2, w3 = chunk.odd, even;
#define GOLDCREST_DSP_NEXT "ldrd %[w0], %[w1], [%[w]], #8\n"
#define GOLDCREST_DSP_NEXT_UNLESS_LAST \
  "ldr %[w0], %[end]\n"                \
  "cmp %[x], %[w0]\n"                  \
  "it ne\n"                            \
  "ldrdne %[w0], %[w1], [%[w]], #8\n"
  asm volatile(
      "ldrd %[w0], %[w1], [%[w]], #8\n"
      "cbz %[w3], 1f\n"
      "b 2f\n"
      "1:\n" GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT) GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT)
          GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT)
              GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT) "2:\n" GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT)
                  GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT) GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT)
                      GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT_UNLESS_LAST) "bne 1b\n" GOLDCREST_DSP_SMLAD(
                          sum3, "%[w3]", "%[x_odd]")
      : [x] "+r"(x), [w] "+r"(w), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3),
        [x_even] "=&r"(x_even), [x_odd] "+r"(x_odd), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "+l"(w3),
        [even] "=&r"(even)
      : [end] "m"(chunk.end)
      : "cc", "memory");
  outputs[0].sum = sum0, outputs[1].sum = sum1, outputs[2].sum = sum2, outputs[3].sum = sum3;
}

// Four inputs of two rows by two outputs; r8 to r11 take the pairs of both rows in one load. The last product comes in
// the next block.
#define GOLDCREST_DSP_TWO_BY_TWO(load) \
  "sxtb16 %[even], %[w0]\n"                        \
  GOLDCREST_DSP_SMLAD(sum3, "%[w1]", "r11")        \
  "ldmia %[x]!, {r8-r11}\n"                        \
  "sxtb16 %[w0], %[w0], ror #8\n"                  \
  GOLDCREST_DSP_SMLAD(sum0, "%[even]", "r8")       \
  "ldr %[w1], [%[w], #4]\n"                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[even]", "r10")      \
  GOLDCREST_DSP_SMLAD(sum0, "%[w0]", "r9")         \
  "sxtb16 %[even], %[w1]\n"                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[w0]", "r11")        \
  "sxtb16 %[w1], %[w1], ror #8\n"                  \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "r8")       \
  load                                             \
  GOLDCREST_DSP_SMLAD(sum3, "%[even]", "r10")      \
  GOLDCREST_DSP_SMLAD(sum1, "%[w1]", "r9")

// outputs[16 * r + j] (+)= products of two rows with two outputs of a panel.
inline void add_products_of_two_rows(const Chunk& chunk, const int8_t* w, Output* outputs) {
  const uint32_t* x = chunk.x;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  if (chunk.continued) sum0 = outputs[0].sum, sum1 = outputs[1].sum, sum2 = outputs[16].sum, sum3 = outputs[17].sum;
  uint32_t w0, w1 = chunk.odd, even;
#define GOLDCREST_DSP_NEXT_W0 "ldr %[w0], [%[w], #64]!\n"
#define GOLDCREST_DSP_NEXT_W0_UNLESS_LAST \
  "ldr %[w0], %[end]\n"                   \
  "cmp %[x], %[w0]\n"                     \
  "it ne\n"                               \
  "ldrne %[w0], [%[w], #64]!\n"
  asm volatile(
      "ldr %[w0], [%[w]]\n"
      "mov r11, #0\n"
      "cbz %[w1], 1f\n"
      "b 2f\n"
      "1:\n" GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0) GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0)
          GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0)
              GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0) "2:\n" GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0)
                  GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0) GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0)
                      GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0_UNLESS_LAST) "bne 1b\n" GOLDCREST_DSP_SMLAD(
                          sum3, "%[w1]", "r11")
      : [x] "+r"(x), [w] "+r"(w), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3),
        [w0] "=&r"(w0), [w1] "+l"(w1), [even] "=&r"(even)
      : [end] "m"(chunk.end)
      : "r8", "r9", "r10", "r11", "cc", "memory");
  outputs[0].sum = sum0, outputs[1].sum = sum1, outputs[16].sum = sum2, outputs[17].sum = sum3;
}

// Four inputs of three or four rows by one output. The first weights of a turn are loaded at its beginning, those of
// its other blocks in the block before.
#define GOLDCREST_DSP_FOUR_ROWS(load, extend)                                                                         \
  "ldmia %[x]!, {r8-r11}\n"                                                                                           \
  "sxtb16 %[odd], %[next], ror #8\n" GOLDCREST_DSP_SMLAD(sum0, "%[even]", "r8") load                                  \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "r10") GOLDCREST_DSP_SMLAD(sum0, "%[odd]", "r9")                               \
      GOLDCREST_DSP_SMLAD(sum1, "%[odd]", "r11") "ldmia %[x]!, {r8-r11}\n" GOLDCREST_DSP_SMLAD(sum2, "%[even]", "r8") \
          GOLDCREST_DSP_SMLAD(sum3, "%[even]", "r10") GOLDCREST_DSP_SMLAD(sum2, "%[odd]", "r9") extend                \
          GOLDCREST_DSP_SMLAD(sum3, "%[odd]", "r11")
#define GOLDCREST_DSP_THREE_ROWS(load, extend)                                                                         \
  "ldmia %[x]!, {r8-r11}\n"                                                                                            \
  "sxtb16 %[odd], %[next], ror #8\n" GOLDCREST_DSP_SMLAD(sum0, "%[even]", "r8") load                                   \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "r10")                                                                          \
      GOLDCREST_DSP_SMLAD(sum0, "%[odd]", "r9") "ldrd r8, r9, [%[x]], #8\n" GOLDCREST_DSP_SMLAD(sum1, "%[odd]", "r11") \
          GOLDCREST_DSP_SMLAD(sum2, "%[even]", "r8") extend                                                            \
          GOLDCREST_DSP_SMLAD(sum2, "%[odd]", "r9")
#define GOLDCREST_DSP_EXTEND_EVEN "sxtb16 %[even], %[next]\n"
#define GOLDCREST_DSP_BLOCK(rows) rows("ldr %[next], [%[w], #64]!\n", GOLDCREST_DSP_EXTEND_EVEN)
// The outputs of a panel, one after another. `odd` is the chunk's first turn, above a bit that says whether sums go on.
#define GOLDCREST_DSP_PANEL(rows, load_sum3, store_sum3) \
  "5:\n"                                                                                                             \
  "ldr %[x], %[start]\n"                                                                                             \
  "ldr %[odd], %[turn]\n"                                                                                            \
  "ldr %[next], [%[w]]\n"                                                                                            \
  "ldrd %[sum0], %[sum1], %[zeros]\n" \
  "ldrd %[sum2], %[sum3], %[zeros]\n" GOLDCREST_DSP_EXTEND_EVEN                                                                      \
  "cbz %[odd], 1f\n"                                                                                                 \
  "lsrs %[odd], %[odd], #1\n"                                                                                        \
  "bcc 6f\n"                                                                                                         \
  "ldr %[even], %[to]\n"                                                                                             \
  "ldr %[sum0], [%[even]]\n"                                                                                         \
  "ldr %[sum1], [%[even], #64]\n"                                                                                    \
  "ldr %[sum2], [%[even], #128]\n" load_sum3 GOLDCREST_DSP_EXTEND_EVEN                                               \
  "6:\n"                                                                                                             \
  "cbz %[odd], 1f\n"                                                                                                 \
  "cmp %[odd], #8\n"                                                                                                 \
  "beq 3f\n"                                                                                                         \
  "bcc 4f\n"                                                                                                         \
  "b 2f\n"                                                                                                           \
  "0:\n"                                                                                                             \
  "ldr %[next], [%[w], #64]!\n" GOLDCREST_DSP_EXTEND_EVEN                                                            \
  "1:\n" GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows)     \
  "2:\n" GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows)     \
  "3:\n" GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows)     \
  "4:\n" GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows) GOLDCREST_DSP_BLOCK(rows)                               \
  rows("ldr %[next], %[end]\n", "cmp %[x], %[next]\n")                                                              \
  "bne 0b\n"                                                                                                         \
  "ldr %[next], %[to]\n"                                                                                             \
  "ldr %[odd], %[back]\n"                                                                                            \
  "ldr %[even], %[to_end]\n"                                                                                         \
  "str %[sum1], [%[next], #64]\n"                                                                                    \
  "str %[sum2], [%[next], #128]\n" store_sum3                                                                        \
  "str %[sum0], [%[next]], #4\n"                                                                                     \
  "sub %[w], %[odd]\n"                                                                                               \
  "str %[next], %[to]\n"                                                                                             \
  "cmp %[next], %[even]\n"                                                                                           \
  "bne 5b\n"

// outputs[r, j] (+)= products of three or four rows with the 16 outputs of a panel.
template <uint32_t kRows>
inline void add_products_of_rows(const Chunk& chunk, const int8_t* w, Output* outputs) {
  static_assert(kRows == 3 || kRows == 4);
  Output *to = outputs, *const to_end = outputs + 16;
  const uint32_t turn = 2 * chunk.odd + (chunk.continued ? 1 : 0);
  const size_t back = chunk.w_bytes - 64 - 4;  // from an output's last weights to the next one's first
  const uint64_t zeros = 0;
  const uint32_t* x;
  int32_t sum0, sum1, sum2, sum3;
  uint32_t even, odd, next;
  if constexpr (kRows == 3) {
    asm volatile(GOLDCREST_DSP_PANEL(GOLDCREST_DSP_THREE_ROWS, , )
                 : [x] "=&r"(x), [w] "+r"(w), [sum0] "=&r"(sum0), [sum1] "=&r"(sum1), [sum2] "=&r"(sum2),
                   [sum3] "=&r"(sum3), [even] "=&r"(even), [odd] "=&l"(odd), [next] "=&r"(next), [to] "+m"(to)
                 : [start] "m"(chunk.x), [end] "m"(chunk.end), [turn] "m"(turn), [back] "m"(back), [to_end] "m"(to_end),
                   [zeros] "m"(zeros)
                 : "r8", "r9", "r10", "r11", "cc", "memory");
  } else {
    asm volatile(
        GOLDCREST_DSP_PANEL(GOLDCREST_DSP_FOUR_ROWS, "ldr %[sum3], [%[even], #192]\n", "str %[sum3], [%[next], #192]\n")
        : [x] "=&r"(x), [w] "+r"(w), [sum0] "=&r"(sum0), [sum1] "=&r"(sum1), [sum2] "=&r"(sum2), [sum3] "=&r"(sum3),
          [even] "=&r"(even), [odd] "=&l"(odd), [next] "=&r"(next), [to] "+m"(to)
        : [start] "m"(chunk.x), [end] "m"(chunk.end), [turn] "m"(turn), [back] "m"(back), [to_end] "m"(to_end),
          [zeros] "m"(zeros)
        : "r8", "r9", "r10", "r11", "cc", "memory");
  }
}

// y[r, j] = float(sum[r, j]) * (x_scale[r] * w_scale[j]) + bias[j] for 16 outputs of some rows; y: args.y, or `outputs`
// where a residual is to be added. outputs: [rows, 16]
__attribute__((noinline)) void scale_outputs(const LinearArgs<int8_t>& args, uint32_t row, uint32_t rows,
                                             uint32_t output, Output* outputs) {
  const bool in_place = args.residual != nullptr;
  const size_t y_stride = in_place ? 16 : args.y_stride;
  float* y = in_place ? &outputs->value : args.y + row * y_stride + output;
  const float* w_scale = args.w_scale + output;
  const float* bias = args.bias + output;
  const float* x_scale = args.x_scale + row;
  const float* const end = x_scale + rows;
#if defined(__ARM_FP)
  // Eight outputs of all rows, then the other eight.
  const size_t row_bytes = 4 * rows, sum_bytes = 64 * rows - 32, stride_bytes = 4 * y_stride,
               y_bytes = stride_bytes * rows - 32;
  // A result is there three instructions later: the steps of one output lie among those of the next two.
#define GOLDCREST_DSP_CONVERT(i, scale) \
  "vmul.f32 " scale ", s8, s1" #i       \
  "\n"                                  \
  "vcvt.f32.s32 s" #i ", s" #i "\n"
#define GOLDCREST_DSP_SCALE(i, scale) "vmul.f32 s" #i ", s" #i ", " scale "\n"
#define GOLDCREST_DSP_ADD(i) "vadd.f32 s" #i ", s" #i ", s2" #i "\n"
#define GOLDCREST_DSP_SCALE_EIGHT \
  "vldmia %[w_scale]!, {s10-s17}\n" \
  "vldmia %[bias]!, {s20-s27}\n" \
  "1:\n" \
  "vldmia %[x_scale]!, {s8}\n" \
  "vldmia %[sums], {s0-s7}\n" \
  "add %[sums], #64\n" \
  GOLDCREST_DSP_CONVERT(0, "s9") GOLDCREST_DSP_CONVERT(1, "s18") GOLDCREST_DSP_CONVERT(2, "s19") \
  GOLDCREST_DSP_SCALE(0, "s9") GOLDCREST_DSP_CONVERT(3, "s9") \
  GOLDCREST_DSP_SCALE(1, "s18") GOLDCREST_DSP_ADD(0) GOLDCREST_DSP_CONVERT(4, "s18") \
  GOLDCREST_DSP_SCALE(2, "s19") GOLDCREST_DSP_ADD(1) GOLDCREST_DSP_CONVERT(5, "s19") \
  GOLDCREST_DSP_SCALE(3, "s9") GOLDCREST_DSP_ADD(2) GOLDCREST_DSP_CONVERT(6, "s9") \
  GOLDCREST_DSP_SCALE(4, "s18") GOLDCREST_DSP_ADD(3) GOLDCREST_DSP_CONVERT(7, "s18") \
  GOLDCREST_DSP_SCALE(5, "s19") GOLDCREST_DSP_ADD(4) \
  GOLDCREST_DSP_SCALE(6, "s9") GOLDCREST_DSP_SCALE(7, "s18") GOLDCREST_DSP_ADD(5) GOLDCREST_DSP_ADD(6) GOLDCREST_DSP_ADD(7) \
  "vstmia %[y], {s0-s7}\n" \
  "add %[y], %[stride_bytes]\n" \
  "cmp %[x_scale], %[end]\n" \
  "bne 1b\n" \
  "sub %[x_scale], %[row_bytes]\n" \
  "sub %[sums], %[sum_bytes]\n" \
  "sub %[y], %[y_bytes]\n"
  asm volatile(GOLDCREST_DSP_SCALE_EIGHT GOLDCREST_DSP_SCALE_EIGHT
               : [sums] "+r"(outputs), [x_scale] "+r"(x_scale), [y] "+r"(y), [w_scale] "+r"(w_scale), [bias] "+r"(bias)
               : [end] "r"(end), [row_bytes] "r"(row_bytes), [sum_bytes] "r"(sum_bytes),
                 [stride_bytes] "r"(stride_bytes), [y_bytes] "r"(y_bytes)
               : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
                 "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "cc", "memory");
#else
  for (; x_scale < end; ++x_scale, outputs += 16, y += y_stride) {
    for (int j = 0; j < 16; ++j) y[j] = static_cast<float>(outputs[j].sum) * (*x_scale * w_scale[j]) + bias[j];
  }
#endif
}

void activate(Activation activation, float* values) {
  if (activation == Activation::kRelu) {
#pragma GCC unroll 4
    for (int j = 0; j < 16; ++j) values[j] = values[j] > 0.0f ? values[j] : 0.0f;
  } else {
    for (int j = 0; j < 16; ++j) values[j] = reference_activate(activation, values[j]);
  }
}

// Scale, bias, activation and residual for 16 outputs of some rows. outputs: [rows, 16]
void finish_outputs(const LinearArgs<int8_t>& args, uint32_t row, uint32_t rows, uint32_t output, Output* outputs) {
  scale_outputs(args, row, rows, output, outputs);
  const size_t stride = args.y_stride, at = row * stride + output;
  float* const y = args.y + at;
  if (args.residual == nullptr) {
    for (uint32_t r = 0; r < rows; ++r) activate(args.activation, y + r * stride);
    return;
  }
  for (uint32_t r = 0; r < rows; ++r) {
    float* const values = &outputs[16 * r].value;
    if (args.activation != Activation::kNone) activate(args.activation, values);
    const float* const residual = args.residual + at + r * stride;
#pragma GCC unroll 4
    for (size_t j = 0; j < 16; ++j) y[r * stride + j] = values[j] + residual[j];
  }
}

template <uint32_t kRows>
Chunk expand_rows(const int8_t* x, uint32_t k, uint32_t inputs, uint32_t* expanded) {
  const uint32_t blocks = inputs / 4;
  for (uint32_t r = 0; r < kRows; ++r) expand(x + size_t{r} * k, blocks, 2 * kRows, expanded + 2 * r);
  return {expanded, expanded + 2 * kRows * blocks, blocks % (kRows > 2 ? 16 : 8), size_t{64} * blocks, false};
}

// outputs[r, j] (+)= products of kRows rows with the 16 outputs of a panel.
template <uint32_t kRows>
inline void add_products_of_panel(const Chunk& chunk, const int8_t* w, Output* outputs) {
  if constexpr (kRows == 1) {
    for (int j = 0; j < 16; j += 4) add_products_of_row(chunk, w + 4 * j, outputs + j);
  } else if constexpr (kRows == 2) {
    for (int j = 0; j < 16; j += 2) add_products_of_two_rows(chunk, w + 4 * j, outputs + j);
  } else {
    add_products_of_rows<kRows>(chunk, w, outputs);
  }
}

// All outputs for kRows rows. Rows that are longer than the expanded chunk are expanded again for each panel.
template <uint32_t kRows>
void linear_rows(const LinearArgs<int8_t>& args, uint32_t first_row) {
  constexpr uint32_t kChunk = kExpandedWords / kRows / 8 * 16;  // inputs
  uint32_t expanded[kExpandedWords];
  const uint32_t n = args.n, k = args.k;
  const int8_t* const x = args.x + size_t{first_row} * k;
  const int8_t* w = args.w;
  const bool is_plain = args.activation == Activation::kNone && args.residual == nullptr;
  Chunk chunk;
  if (k <= kChunk) chunk = expand_rows<kRows>(x, k, k, expanded);
  for (uint32_t output = 0; output < n; output += 16) {
    Output outputs[kRows * 16];
    uint32_t input = 0;
    do {
      if (k > kChunk) {
        chunk = expand_rows<kRows>(x + input, k, k - input < kChunk ? k - input : kChunk, expanded);
        chunk.continued = input > 0;
      }
      add_products_of_panel<kRows>(chunk, w, outputs);
      w += chunk.w_bytes;
      input += kChunk;
    } while (input < k);
    if (is_plain) {
      scale_outputs(args, first_row, kRows, output, outputs);
    } else {
      finish_outputs(args, first_row, kRows, output, outputs);
    }
  }
}

void linear(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  for (uint32_t row = 0; row < args.rows; row += kTileRows) {
    switch (args.rows - row) {
      case 1:
        linear_rows<1>(args, row);
        break;
      case 2:
        linear_rows<2>(args, row);
        break;
      case 3:
        linear_rows<3>(args, row);
        break;
      default:
        linear_rows<kTileRows>(args, row);
        break;
    }
  }
}

#endif  // __OPTIMIZE__

void output_block(const OutputBlockArgs<int8_t>& args) {
  linear(args.linear);
  output_block_sums(args);
}

// The sums are products with ones.
bool weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  if (layout != Layout::kN16K4) return reference_weights_valid(w, weight_sum, n, k, layout);
  constexpr uint32_t kOnes = 0x00010001u, kLowBits = 0x7f7f7f7fu;
  for (uint32_t output = 0; output < n; ++output) {
    const int8_t* weights = w + size_t{output / 16} * 16 * k + output % 16 * 4;
    int32_t sum = 0;
    uint32_t in_range = ~kLowBits;
    for (uint32_t input = 0; input < k; input += 4, weights += 64) {
      const auto word = static_cast<uint32_t>(load_word(weights));
      sum = add_products(even_bytes(word), kOnes, add_products(odd_bytes(word), kOnes, sum));
      // A byte's highest bit: its low bits are not all zero, or it is not negative. -128 alone has neither.
      in_range &= ((word & kLowBits) + kLowBits) | ~word;
    }
    if (in_range != ~kLowBits || (weight_sum != nullptr && sum != weight_sum[output])) return false;
  }
  return true;
}

constexpr Kernels make_table() {
  Kernels table = kReferenceTable;
  table.name = "cortexm_dsp";
  table.int8.quantize_rows = quantize_rows;
  table.int8.linear = linear;
  table.int8.attention = attention;
  table.int8.output_block = output_block;
  table.layer_norm = layer_norm;
#ifdef GOLDCREST_RULES
  table.logit_sums = logit_sums;
#endif
  table.weights_valid = weights_valid;
  return table;
}

}  // namespace

extern const Kernels kernels_cortexm_dsp;
constexpr Kernels kernels_cortexm_dsp = make_table();

}  // namespace goldcrest
#endif  // __ARM_FEATURE_DSP
