// SPDX-License-Identifier: Apache-2.0
// Cortex-M with the DSP extension (M4, M7, M33). SMLAD multiplies two pairs of 16-bit numbers and adds both products.
// Activations are expanded to such pairs once and used for many outputs. SXTB16 expands the weights, once for all rows
// of a tile.
#include "base/exact_floats.h"

#if defined(__ARM_FEATURE_DSP)
#if defined(__ARM_FEATURE_MVE)
// Cores with Helium count loops in the register lr, and GCC 14 keeps it for that where the assembly needs it.
#pragma GCC optimize("no-branch-count-reg")
#endif
#include "base/arithmetic.h"
#include "kernels/cortexm/dsp_packed-inl.h"
#include "kernels/cortexm/dsp_products-inl.h"
#include "kernels/cortexm/dsp_rows-inl.h"

namespace goldcrest {
namespace {
#if !defined(__OPTIMIZE__)
// The loops below take every register, but an unoptimized build reserves some.
void linear(const LinearArgs<int8_t>& args) { reference_linear(args); }
#else

// Turns the sums of some rows into outputs in y, panel after panel.
struct Finish {
  const float* x_scale;  // [rows]
  const float* end;      // end of x_scale
  const float* w_scale;  // [16] of the panel
  const float* bias;     // [16]
  float* y;              // [rows, 16], row stride y_stride
  size_t y_stride;       // elements
  size_t to_residual;    // bytes from y to the residual
  uint32_t steps;        // kApplyRelu | kAddResidual | kTwoHalves
};
constexpr uint32_t kApplyRelu = 1, kAddResidual = 2, kTwoHalves = 0x80000000u;

#if defined(__ARM_FP)
#define GOLDCREST_DSP_HAS_MAXIMUM ((__ARM_FP & 8) != 0 || __ARM_ARCH >= 8)  // FPv5, not a Cortex-M4's

// Each line is a group of instructions.
// clang-format off
// Eight outputs of a row. A result is ready three instructions later, so the steps of an output stand among those of
// the next two. A Cortex-M7, which its doubles identify, begins a VMLA every cycle. So it adds to a fresh copy of the
// biases, which become the outputs.
#if (__ARM_FP & 8) != 0
#define GOLDCREST_DSP_OUTPUT(i) "s2" #i
#define GOLDCREST_DSP_EIGHT_OUTPUTS "{s20-s27}"
#define GOLDCREST_DSP_LOAD_BIAS_OF_HALF
#define GOLDCREST_DSP_LOAD_BIAS_OF_ROW "vldmia %[bias], {s20-s27}\n"
#define GOLDCREST_DSP_NEXT_BIAS "add %[bias], #32\n"
#define GOLDCREST_DSP_SCALE(i, scale) "vmla.f32 s2" #i ", s" #i ", " scale "\n"
#define GOLDCREST_DSP_ADD(i)
#else
#define GOLDCREST_DSP_OUTPUT(i) "s" #i
#define GOLDCREST_DSP_EIGHT_OUTPUTS "{s0-s7}"
#define GOLDCREST_DSP_LOAD_BIAS_OF_HALF "vldmia %[bias]!, {s20-s27}\n"
#define GOLDCREST_DSP_LOAD_BIAS_OF_ROW
#define GOLDCREST_DSP_NEXT_BIAS
#define GOLDCREST_DSP_SCALE(i, scale) "vmul.f32 s" #i ", s" #i ", " scale "\n"
#define GOLDCREST_DSP_ADD(i) "vadd.f32 s" #i ", s" #i ", s2" #i "\n"
#endif
#define GOLDCREST_DSP_CONVERT(i, scale) "vmul.f32 " scale ", s8, s1" #i "\nvcvt.f32.s32 s" #i ", s" #i "\n"
#define GOLDCREST_DSP_SCALE_EIGHT \
  GOLDCREST_DSP_CONVERT(0, "s9") GOLDCREST_DSP_CONVERT(1, "s18") GOLDCREST_DSP_CONVERT(2, "s19") \
  GOLDCREST_DSP_SCALE(0, "s9") GOLDCREST_DSP_CONVERT(3, "s9") \
  GOLDCREST_DSP_SCALE(1, "s18") GOLDCREST_DSP_ADD(0) GOLDCREST_DSP_CONVERT(4, "s18") \
  GOLDCREST_DSP_SCALE(2, "s19") GOLDCREST_DSP_ADD(1) GOLDCREST_DSP_CONVERT(5, "s19") \
  GOLDCREST_DSP_SCALE(3, "s9") GOLDCREST_DSP_ADD(2) GOLDCREST_DSP_CONVERT(6, "s9") \
  GOLDCREST_DSP_SCALE(4, "s18") GOLDCREST_DSP_ADD(3) GOLDCREST_DSP_CONVERT(7, "s18") \
  GOLDCREST_DSP_SCALE(5, "s19") GOLDCREST_DSP_ADD(4) \
  GOLDCREST_DSP_SCALE(6, "s9") GOLDCREST_DSP_SCALE(7, "s18") \
  GOLDCREST_DSP_ADD(5) GOLDCREST_DSP_ADD(6) GOLDCREST_DSP_ADD(7)
#define GOLDCREST_DSP_ADD_RESIDUAL(i, residual) \
  "vadd.f32 " GOLDCREST_DSP_OUTPUT(i) ", " GOLDCREST_DSP_OUTPUT(i) ", " residual "\n"
#if GOLDCREST_DSP_HAS_MAXIMUM
#define GOLDCREST_DSP_MAXIMUM(i) \
  "vmaxnm.f32 " GOLDCREST_DSP_OUTPUT(i) ", " GOLDCREST_DSP_OUTPUT(i) ", s9\n"
#define GOLDCREST_DSP_RELU \
  "bpl 2f\nmov.w %[residual], #0\nvmov s9, %[residual]\n" \
  GOLDCREST_DSP_MAXIMUM(0) GOLDCREST_DSP_MAXIMUM(1) GOLDCREST_DSP_MAXIMUM(2) GOLDCREST_DSP_MAXIMUM(3) \
  GOLDCREST_DSP_MAXIMUM(4) GOLDCREST_DSP_MAXIMUM(5) GOLDCREST_DSP_MAXIMUM(6) GOLDCREST_DSP_MAXIMUM(7)
#else
#define GOLDCREST_DSP_RELU
#endif
#define GOLDCREST_DSP_FINISH \
  "0:\n" \
  "vldmia %[w_scale]!, {s10-s17}\n" GOLDCREST_DSP_LOAD_BIAS_OF_HALF \
  "1:\n" GOLDCREST_DSP_LOAD_BIAS_OF_ROW \
  "vldmia %[x_scale]!, {s8}\n" \
  "vldmia %[sums], {s0-s7}\n" \
  "add %[sums], #64\n" \
  GOLDCREST_DSP_SCALE_EIGHT \
  "lsls %[residual], %[steps], #31\n" \
  GOLDCREST_DSP_RELU \
  "2:\n" \
  "bcc 3f\n" \
  "add %[residual], %[y], %[to_residual]\n" \
  "vldmia %[residual]!, {s28-s31}\n" \
  GOLDCREST_DSP_ADD_RESIDUAL(0, "s28") GOLDCREST_DSP_ADD_RESIDUAL(1, "s29") \
  GOLDCREST_DSP_ADD_RESIDUAL(2, "s30") GOLDCREST_DSP_ADD_RESIDUAL(3, "s31") \
  "vldmia %[residual], {s28-s31}\n" \
  GOLDCREST_DSP_ADD_RESIDUAL(4, "s28") GOLDCREST_DSP_ADD_RESIDUAL(5, "s29") \
  GOLDCREST_DSP_ADD_RESIDUAL(6, "s30") GOLDCREST_DSP_ADD_RESIDUAL(7, "s31") \
  "3:\n" \
  "vstmia %[y], " GOLDCREST_DSP_EIGHT_OUTPUTS "\n" \
  "add %[y], %[y], %[y_stride], lsl #2\n" \
  "cmp %[x_scale], %[end]\n" \
  "bne 1b\n" \
  "sub %[x_scale], %[row_bytes]\n" GOLDCREST_DSP_NEXT_BIAS \
  "sub %[sums], %[sums], %[row_bytes], lsl #4\n" \
  "add %[sums], #32\n" \
  "mls %[y], %[y_stride], %[row_bytes], %[y]\n" \
  "add %[y], #32\n" \
  "adds %[steps], #0x40000000\n" \
  "bcc 0b\n"
// clang-format on

// y[r, j] = relu(float(sum[r, j]) * (x_scale[r] * w_scale[j]) + bias[j]) + residual[r, j]: first eight outputs of all
// rows, then the other eight. sums: [panels, rows, 16]. Moves `finish` on to the next panel.
__attribute__((noinline)) void finish_sums(Finish& finish, Output* sums, uint32_t panels) {
  const float* x_scale = finish.x_scale;
  const size_t row_bytes = reinterpret_cast<uintptr_t>(finish.end) - reinterpret_cast<uintptr_t>(x_scale);
  const float *w_scale = finish.w_scale, *bias = finish.bias;
  float* y = finish.y;
  for (; panels > 0; --panels, sums += 4 * row_bytes - 16) {
    uint32_t steps = finish.steps, residual;
    asm volatile(GOLDCREST_DSP_FINISH
                 : [sums] "+r"(sums), [x_scale] "+r"(x_scale), [y] "+r"(y), [w_scale] "+r"(w_scale), [bias] "+r"(bias),
                 [steps] "+r"(steps), [residual] "=&r"(residual)
                 : [end] "r"(finish.end), [row_bytes] "r"(row_bytes), [y_stride] "r"(finish.y_stride),
                 [to_residual] "r"(finish.to_residual)
                 : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
                 "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29",
                 "s30", "s31", "cc", "memory");
  }
  finish.w_scale = w_scale;
  finish.bias = bias;
  finish.y = y;
}
#else
void finish_sums(Finish& finish, Output* sums, uint32_t panels) {
  for (; panels > 0; --panels) {
    float* y = finish.y;
    for (const float* x_scale = finish.x_scale; x_scale < finish.end; ++x_scale, y += finish.y_stride, sums += 16)
      for (uint32_t j = 0; j < 16; ++j)
        y[j] = static_cast<float>(sums[j].sum) * (*x_scale * finish.w_scale[j]) + finish.bias[j];
    finish.w_scale += 16;
    finish.bias += 16;
    finish.y += 16;
  }
}
#endif

void activate(Activation activation, float* values) {
  for (int j = 0; j < 16; ++j)
    if (activation != Activation::kRelu) values[j] = reference_activate(activation, values[j]);
    else if (float_bits(values[j]) > 0x7f800000u)  // negative, or not a number
      values[j] = 0.0f;
}

// Returns whether finish_sums can apply the activation.
bool is_simple([[maybe_unused]] Activation activation) {
#if defined(__ARM_FP)
  return activation == Activation::kNone || (GOLDCREST_DSP_HAS_MAXIMUM && activation == Activation::kRelu);
#else
  return false;
#endif
}

// Not inlined, to save flash.
__attribute__((noinline)) Finish make_finish(const LinearArgs<int8_t>& args, uint32_t row, uint32_t rows) {
  const size_t at = row * args.y_stride;
  Finish finish = {};
  finish.x_scale = args.x_scale + row;
  finish.end = finish.x_scale + rows;
  finish.w_scale = args.w_scale;
  finish.bias = args.bias;
  finish.y = args.y + at;
  finish.y_stride = args.y_stride;
  finish.steps = kTwoHalves;
  if (!is_simple(args.activation)) return finish;
  if (args.activation == Activation::kRelu) finish.steps |= kApplyRelu;
  if (args.residual != nullptr) {
    finish.steps |= kAddResidual;
    finish.to_residual = reinterpret_cast<uintptr_t>(args.residual) - reinterpret_cast<uintptr_t>(args.y);
  }
  return finish;
}

// Applies an activation that finish_sums cannot apply, and the residual, row by row. sums: [rows, 16]
inline void finish_by_rows(const LinearArgs<int8_t>& args, Finish& finish, Output* sums) {
  const size_t stride = args.y_stride;
  float* const y = finish.y;
  finish.y = &sums->value;  // overwrites the sums, because y may be the residual
  finish.y_stride = 16;
  finish_sums(finish, sums, 1);
  finish.y = y + 16;
  finish.y_stride = stride;
  for (size_t at = static_cast<size_t>(y - args.y), r = static_cast<size_t>(finish.end - finish.x_scale); r > 0;
       --r, at += stride) {
    activate(args.activation, &sums->value);
    for (size_t j = at; j < at + 16; ++j, ++sums)
      args.y[j] = args.residual != nullptr ? sums->value + args.residual[j] : sums->value;
  }
}

// Ends the outputs of some panels. sums: [panels, rows, 16]
__attribute__((noinline)) void finish_panels(
    const LinearArgs<int8_t>& args, Finish& finish, Output* sums, uint32_t panels) {
  if (is_simple(args.activation)) return finish_sums(finish, sums, panels);
  for (; panels > 0; --panels, sums += 16 * (finish.end - finish.x_scale)) finish_by_rows(args, finish, sums);
}

template <uint32_t kRows> Chunk expand_rows(const int8_t* x, uint32_t k, uint32_t inputs, uint32_t* expanded) {
  const uint32_t blocks = inputs / 4;
  uint32_t* const words = expanded + (kRows == 4 ? kFirstSums : 0);
  if constexpr (kRows == 4) {
#pragma GCC unroll 1
    for (uint32_t r = 0; r < 4; r += 2, x += 2 * size_t{k}) expand_two_rows(x, x + k, blocks, words + r, expanded + r);
  } else {
#pragma GCC unroll 1
    for (uint32_t r = 0; r < kRows; ++r) expand(x + size_t{r} * k, blocks, words + 2 * r, 8 * kRows);
  }
  uint32_t* const end = words + 2 * kRows * blocks;
  *end = kEndOfChunk;
  return {expanded, end, blocks % (kRows == 3 ? 16 : 8), size_t{64} * blocks, false};
}

// outputs[r, j] (+)= products of kRows rows with the 16 outputs of a panel.
template <uint32_t kRows> inline void add_products_of_panel(const Chunk& chunk, const int8_t* w, Output* outputs) {
  if constexpr (kRows == 1)
    for (int j = 0; j < 16; j += 4) add_products_of_row(chunk, w + 4 * j, outputs + j);
  else if constexpr (kRows == 2)
    for (int j = 0; j < 16; j += 2) add_products_of_two_rows(chunk, w + 4 * j, outputs + j);
  else if constexpr (kRows == 3) add_products_of_three_rows(chunk, w, outputs);
  else add_products_of_four_rows(chunk, w, outputs);
}

// Computes all outputs for kRows rows. If the rows are longer than the expanded chunk, each kPanels panels expand them
// again.
template <uint32_t kRows> void linear_rows(const LinearArgs<int8_t>& args, uint32_t first_row) {
  constexpr uint32_t kChunk = kExpandedWords / kRows / 8 * 16;  // inputs
  constexpr uint32_t kPanels = 8 / kRows;
  uint32_t expanded[kExpandedWords + 2 + (kRows == 4 ? kFirstSums : 0)];
  Output sums[kPanels * kRows * 16];
  const uint32_t n = args.n, k = args.k;
  const int8_t* const x = args.x + size_t{first_row} * k;
  Finish finish = make_finish(args, first_row, kRows);
  Chunk chunk;
  for (uint32_t output = 0; output < n; output += 16 * kPanels) {
    const uint32_t end = n - output < 16 * kPanels ? n : output + 16 * kPanels;
    for (uint32_t input = 0; input < k; input += kChunk) {
      if (k > kChunk || output == 0) {
        chunk = expand_rows<kRows>(x + input, k, k - input < kChunk ? k - input : kChunk, expanded);
        chunk.continued = input > 0;
      }
      const int8_t* w = args.w + size_t{output} * k + 16 * input;
      Output* to = sums;
      for (uint32_t panel = output; panel < end; panel += 16, w += 16 * k, to += 16 * kRows)
        add_products_of_panel<kRows>(chunk, w, to);
    }
    finish_panels(args, finish, sums, (end - output) / 16);
  }
}

// Computes four rows or one at a time. Inputs that do not fit are expanded again for each panel.
__attribute__((noinline)) void linear_packed(const LinearArgs<int8_t>& args) {
  constexpr uint32_t kInputs = 640;
  uint32_t expanded[18 * kInputs / kPackedGroup];
  Output sums[64];
  for (uint32_t row = 0, rows; row < args.rows; row += rows) {
    rows = args.rows - row >= 4 ? 4 : 1;
    Finish finish = make_finish(args, row, rows);
    const int8_t* w = args.w;
    PackedSums place = {args.multipliers, sums};
    const uint32_t* end = nullptr;
    uint32_t output = 0;
    do {
      memset(sums, 0, sizeof sums);  // cppcheck-suppress memsetClassFloat; sums of 0 have no bits
      uint32_t input = 0, inputs;
      do {
        inputs = smaller(args.k - input, kInputs / rows);
        if (end == nullptr || inputs < args.k)
          end = expand_groups(args.x + size_t{row} * args.k + input, args.k, inputs, rows, expanded);
        add_groups(expanded, end, w, place, rows);
      } while ((input += inputs) < args.k);
      finish_panels(args, finish, sums, 1);
    } while ((output += 16) < args.n);
  }
}

void linear(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || (args.is_packed() && kTileRows == 2)) return reference_linear(args);
  if (args.is_packed() && kTileRows == 4) return linear_packed(args);
  for (uint32_t row = 0; row < args.rows; row += kTileRows) {
    const uint32_t rows = args.rows - row;
    if (rows == 1) linear_rows<1>(args, row);
    else if (rows == 2 || kTileRows == 2) linear_rows<2>(args, row);
    else if constexpr (kTileRows == 4) rows == 3 ? linear_rows<3>(args, row) : linear_rows<4>(args, row);
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
      // Sets a byte's highest bit if its low bits are not all zero or it is not negative. Only for -128 neither holds.
      in_range &= ((word & kLowBits) + kLowBits) | ~word;
    }
    if (in_range != ~kLowBits || (weight_sum != nullptr && sum != weight_sum[output])) return false;
  }
  return true;
}

constexpr Kernels make_table() {
  Kernels table = kReferenceTable;
  table.name = "cortexm_dsp";
  table.int8 = {quantize_rows, linear, table.int8.embed, attention, output_block};
  table.layer_norm = layer_norm;
  table.logit_sums = logit_sums;
  table.weights_valid = weights_valid;
  return table;
}
}  // namespace

extern const Kernels kernels_cortexm_dsp;
constexpr Kernels kernels_cortexm_dsp = for_this_build(make_table());
}  // namespace goldcrest
#endif  // __ARM_FEATURE_DSP
