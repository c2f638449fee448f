// SPDX-License-Identifier: Apache-2.0
// Cortex-M with Helium (M55). VMLADAVA multiplies sixteen int8 and adds all products to one register, so a layer with
// N4K16 weights is one sequential stream of loads.
#include "base/exact_floats.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0
#include "kernels/cortexm/helium_products-inl.h"

namespace goldcrest {
namespace {
// The destination of the outputs of one row.
struct OutputRow {
  OutputRow(const LinearArgs<int8_t>& args, uint32_t row)
      : x_scale(args.x_scale[row]),
        y(args.y + row * args.y_stride),
        residual(args.residual != nullptr ? args.residual + row * args.y_stride : nullptr),
        activation(args.activation) {}

  // Applies scale, bias, activation and residual to four outputs.
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

// Computes a row with N16K4 weights. Products of two inputs are added in 16 bits; they fit, because all factors are in
// [-127, 127].
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

// Returns the sums of a row's products with four outputs of packed weights in N4K16. Nibbles are multiplied as they
// are, a group's sums begin with -8 times the sum of its inputs, and its multipliers enter once.
__attribute__((noinline)) int32x4_t packed_sums(const int8_t* x, const int8_t* w, const int8_t* m, uint32_t k) {
  int8_t last[kPackedGroup];
  int32x4_t sums = vdupq_n_s32(0);
  for (;; k -= kPackedGroup, x += kPackedGroup, w += 64, m += 16) {
    if (k < kPackedGroup) {  // the other inputs are 0
      vst1q_s8(last, vld1q_s8(x));
      vst1q_s8(last + 16, vdupq_n_s8(0));
      x = last;
    }
    const int8x16_t low = vld1q_s8(x), high = vld1q_s8(x + 16);
    const int32_t start = -8 * vaddvaq_s8(vaddvq_s8(low), high);
    int32_t of_group[4];
#pragma GCC unroll 4
    for (uint32_t j = 0; j < 4; ++j) {
      const uint8x16_t nibbles = vldrbq_u8(reinterpret_cast<const uint8_t*>(w + 16 * j));
      const int8x16_t lows = vreinterpretq_s8_u8(vandq_u8(nibbles, vdupq_n_u8(15)));
      const int8x16_t highs = vreinterpretq_s8_u8(vshrq_n_u8(nibbles, 4));
      of_group[j] = vmladavaq_s8(vmladavaq_s8(start, lows, low), highs, high);
    }
    sums = vaddq_s32(sums, vmulq_s32(vldrbq_s32(m), vld1q_s32(of_group)));
    if (k <= kPackedGroup) return sums;
  }
}

// Returns the same in any layout.
__attribute__((noinline)) int32x4_t unpacked_sums(const LinearArgs<int8_t>& args, const int8_t* x, uint32_t output) {
  int32_t sums[4] = {};
  for (int32_t& sum : sums) {
    for (uint32_t input = 0; input < args.k; input += kPackedGroup) {
      int8_t w[kPackedGroup];
      unpack_group(packed_matrix(args), output, input / kPackedGroup, w);
      sum += dot(w, x + input, args.k - input < kPackedGroup ? 1 : 2);
    }
    ++output;
  }
  return vld1q_s32(sums);
}

void linear_packed(const LinearArgs<int8_t>& args) {
  const size_t n_groups = packed_groups(args.k);
  for (uint32_t output = 0; output < args.n; output += 4) {
    const int8_t* const m = args.multipliers + output / 16 * 16 * n_groups + output % 16;
    for (uint32_t row = 0; row < args.rows; ++row) {
      const int8_t* const x = args.x + size_t{row} * args.k;
      const int32x4_t sums = args.layout == Layout::kN4K16 ? packed_sums(x, args.w + output * n_groups * 16, m, args.k)
                                                           : unpacked_sums(args, x, output);
      OutputRow(args, row).finish(output, sums, load(args.w_scale + output), load(args.bias + output));
    }
  }
}

__attribute__((noinline)) void linear(const LinearArgs<int8_t>& args) {
  uint32_t row = 0;
  if (args.is_packed()) return linear_packed(args);
  if (args.layout == Layout::kN16K4) {
    for (; row < args.rows; ++row) linear_n16k4(args, row);
    return;
  }
  for (; row + 2 <= args.rows; row += 2) linear_rows<2>(args, row);
  if (row < args.rows) linear_rows<1>(args, row);
}

void finish_fine(const LinearArgs<int8_t>& args, const float* p) {
  const size_t size = size_t{args.rows} * args.n;
  for (uint32_t row = 0; row < args.rows; ++row) {
    const size_t at = row * args.y_stride;
    for (uint32_t i = 0; i < args.n; i += 4, p += 4) {
      V y = (load(p) + load(args.bias + i)) + load(p + size);
      if (args.activation != Activation::kNone) y = activate_outputs(args.activation, y);
      if (args.residual != nullptr) y = y + load(args.residual + at + i);
      store(args.y + at + i, y);
    }
  }
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
  table.int8 = {quantize_rows, linear, table.int8.embed, attention, output_block};
  table.layer_norm = layer_norm;
  table.logit_sums = logit_sums;
  table.finish_fine = finish_fine;
  table.recurrence = recurrence<4>;
  table.weights_valid = weights_valid;
  return table;
}
}  // namespace

extern const Kernels kernels_cortexm_helium;
constexpr Kernels kernels_cortexm_helium = for_this_build(make_table());
}  // namespace goldcrest
#endif  // floating-point Helium
