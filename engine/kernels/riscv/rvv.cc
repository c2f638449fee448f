// SPDX-License-Identifier: Apache-2.0
// 64-bit RISC-V with vectors (V 1.0). A panel's weights become vectors of 16 outputs, and each of four rows multiplies
// them by one of its inputs: a vector instruction for 16 products and sums.
#include "base/exact_floats.h"

#if defined(__riscv_vector) && __riscv_xlen == 64
#include "kernels/cpu_features.h"
#include "kernels/reference/attention-inl.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
#include "kernels/riscv/rvv_loops-inl.h"

namespace goldcrest {
namespace {
constexpr uint32_t kGroupOutputs = 64;  // their sums are stored at a time

// One input of a row by sixteen weights, added to the row's sums.
#define GOLDCREST_RVV_PRODUCTS(row, sums, input, weights) \
  "lb t" row ", " input "(%[x" row                        \
  "])\n"                                                  \
  "vwmacc.vx " sums ", t" row ", " weights "\n"
#define GOLDCREST_RVV_1_ROW(input, weights) GOLDCREST_RVV_PRODUCTS("0", "v8", input, weights)
#define GOLDCREST_RVV_2_ROWS(input, weights) \
  GOLDCREST_RVV_1_ROW(input, weights) GOLDCREST_RVV_PRODUCTS("1", "v12", input, weights)
#define GOLDCREST_RVV_4_ROWS(input, weights) \
  GOLDCREST_RVV_2_ROWS(input, weights)       \
  GOLDCREST_RVV_PRODUCTS("2", "v16", input, weights) GOLDCREST_RVV_PRODUCTS("3", "v20", input, weights)

// Before a panel's loop: no sums yet. The loop takes four inputs at a time. A word of the panel has an output's four
// weights, which shifts turn into four vectors of int16.
#define GOLDCREST_RVV_BEGIN_PANEL      \
  "vsetvl zero, %[lanes], %[words]\n"  \
  "vmv.v.i v8, 0\n"                    \
  "vmv.v.i v12, 0\n"                   \
  "vmv.v.i v16, 0\n"                   \
  "vmv.v.i v20, 0\n"                   \
  "vsetvl zero, %[lanes], %[halves]\n" \
  "1:\n"                               \
  "vle32.v v4, (%[w])\n"               \
  "addi %[w], %[w], 64\n"              \
  "vnsrl.wi v24, v4, 0\n"              \
  "vnsrl.wi v28, v4, 16\n"             \
  "vsra.vi v26, v24, 8\n"              \
  "vsra.vi v30, v28, 8\n"              \
  "vsll.vi v24, v24, 8\n"              \
  "vsll.vi v28, v28, 8\n"              \
  "vsra.vi v24, v24, 8\n"              \
  "vsra.vi v28, v28, 8\n"
#define GOLDCREST_RVV_END_PANEL \
  "addi %[x0], %[x0], 4\n"      \
  "bltu %[x0], %[end], 1b\n"    \
  "vse32.v v8, (%[sums])\n"
#define GOLDCREST_RVV_PANEL(rows, advance_rows)                                                 \
  GOLDCREST_RVV_BEGIN_PANEL rows("0", "v24") rows("1", "v26") rows("2", "v28") rows("3", "v30") \
      advance_rows GOLDCREST_RVV_END_PANEL

// sums[r * kGroupOutputs + j] = sum over i of x[r, i] * w[j, i], for a panel. kRows: 1, 2 or 4. k % 4 == 0
template <uint32_t kRows>
inline void sum_panel(const Lanes& types, const int8_t* x, const int8_t* w, size_t k, int32_t* sums) {
  const int8_t* const end = x + k;
  const size_t lanes = 16;
  if constexpr (kRows == 1) {
    asm volatile(
        GOLDCREST_RVV_PANEL(GOLDCREST_RVV_1_ROW, "")
        : [x0] "+&r"(x), [w] "+&r"(w)
        : [end] "r"(end), [sums] "r"(sums), [lanes] "r"(lanes), [words] "r"(types.words), [halves] "r"(types.halves)
        : GOLDCREST_RVV_CLOBBERS);
  } else if constexpr (kRows == 2) {
    const int8_t* x1 = x + k;
    asm volatile(GOLDCREST_RVV_PANEL(GOLDCREST_RVV_2_ROWS, "addi %[x1], %[x1], 4\n") "vse32.v v12, (%[sums1])\n"
                 : [x0] "+&r"(x), [x1] "+&r"(x1), [w] "+&r"(w)
                 : [end] "r"(end), [sums] "r"(sums), [sums1] "r"(sums + kGroupOutputs), [lanes] "r"(lanes),
                 [words] "r"(types.words), [halves] "r"(types.halves)
                 : GOLDCREST_RVV_CLOBBERS);
  } else {
    const int8_t *x1 = x + k, *x2 = x1 + k, *x3 = x2 + k;
    asm volatile(GOLDCREST_RVV_PANEL(GOLDCREST_RVV_4_ROWS,
                                     "addi %[x1], %[x1], 4\n"
                                     "addi %[x2], %[x2], 4\n"
                                     "addi %[x3], %[x3], 4\n")
                 "vse32.v v12, (%[sums1])\n"
                 "vse32.v v16, (%[sums2])\n"
                 "vse32.v v20, (%[sums3])\n"
                 : [x0] "+&r"(x), [x1] "+&r"(x1), [x2] "+&r"(x2), [x3] "+&r"(x3), [w] "+&r"(w)
                 : [end] "r"(end), [sums] "r"(sums), [sums1] "r"(sums + kGroupOutputs),
                   [sums2] "r"(sums + 2 * kGroupOutputs), [sums3] "r"(sums + 3 * kGroupOutputs), [lanes] "r"(lanes),
                   [words] "r"(types.words), [halves] "r"(types.halves)
                 : GOLDCREST_RVV_CLOBBERS);
  }
}

// One row's outputs of a linear layer without their activation, or with ReLU.
struct RowOutputs {
  const int32_t* sums;    // [n]
  const float* w_scale;   // [n]
  const float* bias;      // [n]
  const float* residual;  // [n]; null: none; may be y
  float* y;               // [n]
  size_t n;
  float x_scale;
  bool applies_relu;
};

inline void finish_sums(const RowOutputs& outputs) {
  RowOutputs row = outputs;
  const float zero = 0.0f;
  asm volatile(
      "1:\n"
      "vsetvli t0, %[n], e32, m4, ta, ma\n"
      "vle32.v v8, (%[sums])\n"
      "vle32.v v12, (%[w_scale])\n"
      "vle32.v v16, (%[bias])\n"
      "vfcvt.f.x.v v8, v8\n"
      "vfmul.vf v12, v12, %[x_scale]\n"
      "sub %[n], %[n], t0\n"
      "slli t1, t0, 2\n"
      "vfmul.vv v8, v8, v12\n"
      "vfadd.vv v8, v8, v16\n"
      "beqz %[relu], 2f\n"
      "vfmax.vf v8, v8, %[zero]\n"  // 0 and what is not a number give 0
      "2:\n"
      "beqz %[residual], 3f\n"
      "vle32.v v20, (%[residual])\n"
      "add %[residual], %[residual], t1\n"
      "vfadd.vv v8, v8, v20\n"
      "3:\n"
      "vse32.v v8, (%[y])\n"
      "add %[sums], %[sums], t1\n"
      "add %[w_scale], %[w_scale], t1\n"
      "add %[bias], %[bias], t1\n"
      "add %[y], %[y], t1\n"
      "bnez %[n], 1b\n"
      : [sums] "+&r"(row.sums), [w_scale] "+&r"(row.w_scale), [bias] "+&r"(row.bias), [residual] "+&r"(row.residual),
      [y] "+&r"(row.y), [n] "+&r"(row.n)
      : [x_scale] "f"(row.x_scale), [relu] "r"(row.applies_relu ? 1l : 0l), [zero] "f"(zero)
      : GOLDCREST_RVV_CLOBBERS);
}

// Turns a row's sums into `outputs` outputs, from `first` on.
void finish(const LinearArgs<int8_t>& args, uint32_t row, uint32_t first, uint32_t outputs, const int32_t* sums) {
  const Activation activation = args.activation;
  const bool applies_relu = activation == Activation::kRelu,
             ends_here = applies_relu || activation == Activation::kNone;
  const size_t at = row * args.y_stride + first;
  float* const y = args.y + at;
  const float* const residual = args.residual != nullptr ? args.residual + at : nullptr;
  float values[kGroupOutputs];
  finish_sums({sums, args.w_scale + first, args.bias + first, ends_here ? residual : nullptr, ends_here ? y : values,
      outputs, args.x_scale[row], applies_relu});
  if (ends_here) return;
  for (uint32_t j = 0; j < outputs; ++j) {
    const float value = reference_activate(activation, values[j]);
    y[j] = residual != nullptr ? value + residual[j] : value;
  }
}

// Computes some outputs of kRows rows.
template <uint32_t kRows>
void linear_rows(const LinearArgs<int8_t>& args, const Lanes& types, uint32_t row, uint32_t first, uint32_t outputs) {
  int32_t sums[kRows * kGroupOutputs];
  const size_t k = args.k;
  const int8_t* const x = args.x + row * k;
  for (uint32_t j = 0; j < outputs; j += 16) sum_panel<kRows>(types, x, args.w + (first + j) * k, k, sums + j);
  for (uint32_t r = 0; r < kRows; ++r) finish(args, row + r, first, outputs, sums + r * kGroupOutputs);
}

void linear(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  const Lanes types = sixteen_lanes();
  const uint32_t n = args.n, rows = args.rows;
  for (uint32_t first = 0; first < n; first += kGroupOutputs) {  // the weights stay in the cache for all rows
    const uint32_t outputs = n - first < kGroupOutputs ? n - first : kGroupOutputs;
    uint32_t row = 0;
    for (; row + 4 <= rows; row += 4) linear_rows<4>(args, types, row, first, outputs);
    for (; row + 2 <= rows; row += 2) linear_rows<2>(args, types, row, first, outputs);
    if (row < rows) linear_rows<1>(args, types, row, first, outputs);
  }
}

// An input by the lowest nibbles of int16, which move on to the next ones.
#define GOLDCREST_RVV_NIBBLE(from, input, weights) \
  "vand.vi " weights ", " from                     \
  ", 15\n"                                         \
  "vsrl.vi " from ", " from ", 4\n" GOLDCREST_RVV_1_ROW(input, weights)
// Inputs a, b, c and d by the four nibbles.
#define GOLDCREST_RVV_NIBBLES(from, a, b, c, d) \
  GOLDCREST_RVV_NIBBLE(from, a, "v0")           \
  GOLDCREST_RVV_NIBBLE(from, b, "v2") GOLDCREST_RVV_NIBBLE(from, c, "v0") GOLDCREST_RVV_1_ROW(d, from)

// sums [16] <- the products of a row x [k] with a panel of packed weights. A group's sums begin with -8 times the sum
// of its inputs, starts [groups], and they are multiplied by its outputs' multipliers once. A word has an output's
// weights of eight inputs: those of the first four are low nibbles.
inline void sum_packed_panel(const Lanes& types, const int8_t* x, size_t k, const int32_t* starts, const int8_t* w,
    const int8_t* multipliers, int32_t* sums) {
  const int8_t* const end = x + k;
  const size_t lanes = 16;
  asm volatile(
      "vsetvl zero, %[lanes], %[words]\n"
      "vmv.v.i v16, 0\n"
      "1:\n"
      "lw t0, (%[starts])\n"
      "addi %[starts], %[starts], 4\n"
      "vmv.v.x v8, t0\n"
      "addi t2, %[x0], 32\n"
      "bleu t2, %[end], 2f\n"
      "mv t2, %[end]\n"
      "2:\n"
      "vsetvl zero, %[lanes], %[halves]\n"
      "3:\n"
      "vle32.v v4, (%[w])\n"
      "addi %[w], %[w], 64\n"
      "vnsrl.wi v24, v4, 0\n"
      "vnsrl.wi v28, v4, 16\n"
      GOLDCREST_RVV_NIBBLES("v24", "0", "4", "1", "5")
      GOLDCREST_RVV_NIBBLES("v28", "2", "6", "3", "7")
      "addi %[x0], %[x0], 8\n"
      "bltu %[x0], t2, 3b\n"
      "vsetvl zero, %[lanes], %[words]\n"
      "vle8.v v4, (%[m])\n"
      "addi %[m], %[m], 16\n"
      "vsext.vf4 v0, v4\n"
      "vmacc.vv v16, v8, v0\n"
      "bltu %[x0], %[end], 1b\n"
      "vse32.v v16, (%[sums])\n"
      : [x0] "+&r"(x), [w] "+&r"(w), [m] "+&r"(multipliers), [starts] "+&r"(starts)
      : [end] "r"(end), [sums] "r"(sums), [lanes] "r"(lanes), [words] "r"(types.words), [halves] "r"(types.halves)
      : GOLDCREST_RVV_CLOBBERS);
}

void linear_packed_rows(const LinearArgs<int8_t>& args) {
  const Lanes types = sixteen_lanes();
  const size_t k = args.k, n_groups = packed_groups(args.k);
  const int8_t* x = args.x;
  for (uint32_t row = 0; row < args.rows; ++row, x += k) {
    int32_t starts[kMostPackedInputs / kPackedGroup] = {}, sums[kGroupOutputs];
    for (size_t i = 0; i < k; ++i) starts[i / kPackedGroup] -= 8 * x[i];
    for (uint32_t first = 0, j; first < args.n; first = j) {
      for (j = first; j < args.n && j < first + kGroupOutputs; j += 16)
        sum_packed_panel(
            types, x, k, starts, args.w + nibble_bytes(j, args.k), args.multipliers + j * n_groups, sums + (j - first));
      finish(args, row, first, j - first, sums);
    }
  }
}

// Computes largest logits and sums of exponentials with the reference's bits: a first logit that is not a number
// stays the largest, and of zeros the first.
void logit_sums(const LogitSumsArgs& args) {
  const Lanes types = sixteen_lanes();
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const logits = args.logits + row * args.logits_stride;
    float largest = logits[0] == logits[0] ? largest_number(logits, args.count) : logits[0];
    if (largest == 0.0f) {
      const float* zero = logits;
      while (*zero != 0.0f) ++zero;
      largest = *zero;
    }
    args.block_max[row * args.stride] = largest;
    args.block_sum[row * args.stride] = exponentials(types, logits, args.count, largest, nullptr);
  }
}

void output_block(const OutputBlockArgs<int8_t>& args) {
  linear(args.linear);
  if (args.block_max != nullptr) logit_sums(logit_sums_of(args));
}

// Quantizes one row: q [n] <- x [n]. Returns the scale. n % 16 == 0
float quantize_row(const float* x, size_t n, int8_t* q) {
  const uint32_t amax_bits = largest_magnitude(x, n);
  if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
    memset(q, 0, n);
    return 0.0f;
  }
  const float amax = bits_float(amax_bits);
  quantize(x, n, 127.0f / amax, q);  // |x * inverse| <= 127 * (1 + 2^-23)^2
  return amax / 127.0f;
}

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) { quantize_by_rows(args, quantize_row); }

void layer_norm(const LayerNormArgs& args) {
  const Lanes types = sixteen_lanes();
  const uint32_t n = args.n;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const float mean = args.centred ? sum_strided(types, x, n) * inverse_n : 0.0f;
    const float variance = sum_squares(types, x, n, mean) * inverse_n;
    normalize(x, n, mean, 1.0f / sqrt_float(variance + args.epsilon), args.gamma, args.beta, y);
    for (uint32_t i = n; i < args.n_padded; ++i) y[i] = 0.0f;
  }
}

// args.weights <- the scores of one head's query, after soft-max, times the value scales. Returns the factor of integer
// weights.
float attention_weights(
    const AttentionArgs<int8_t>& args, const Lanes& types, uint32_t row, const HeadKeys& head, float q_scale) {
  float largest = -__builtin_huge_valf();
  float* const end = args.weights + args.n_keys;
  KeyRows key_rows(args, row);
  for (float* weight = args.weights; weight < end; ++weight) {
    const size_t at = key_rows.next();
    const auto product = static_cast<float>(dot(args.q_row, head.keys + at * args.d_head, args.d_head));
    *weight = (product * (q_scale * head.key_scales[at])) * args.scale;
    largest = *weight > largest ? *weight : largest;
  }
  largest = add_row_bias(args, head.bias, row, largest);
  if (args.has_integers()) return reference_integer_weights(args, row, head, largest);
  const float inverse = 1.0f / exponentials(types, args.weights, args.n_keys, largest, args.weights);
  KeyRows value_rows(args, row);
  for (float* weight = args.weights; weight < end; ++weight)
    *weight = (*weight * inverse) * head.value_scales[value_rows.next()];
  return 1.0f;
}

void attention(const AttentionArgs<int8_t>& args) {
  static constexpr uint8_t kFirstSlot = 0;
  const Lanes types = sixteen_lanes();
  const bool has_ancestors = args.ancestor != nullptr;
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const HeadKeys keys = head_keys(args, head);
    const size_t column = size_t{head} * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      const float q_scale = quantize_row(args.q + row * args.q_stride + column, args.d_head, args.q_row);
      const float factor = attention_weights(args, types, row, keys, q_scale);
      const ValueRows values = {args.values + head * args.head_stride * args.d_head,
          has_ancestors ? args.ancestor + row : &kFirstSlot, has_ancestors ? args.ancestor_stride : 0,
          args.position_stride, args.d_head, args.weights, args.n_keys};
      float* const out = args.out + row * args.out_stride + column;
      if (args.has_integers()) sum_values<true>(values, factor, out);
      else sum_values<false>(values, factor, out);
    }
  }
}

constexpr Kernels make_table() {
  Kernels table = kReferenceTable;
  table.name = "riscv_rvv";
  table.cpu_features = kCpuVector;
  table.int8 = {quantize_rows, linear, table.int8.embed, attention, output_block};
  table.layer_norm = layer_norm;
  table.logit_sums = logit_sums;
  table.linear_packed = linear_packed_rows;
  return table;
}
}  // namespace

extern const Kernels kernels_riscv_rvv;
constexpr Kernels kernels_riscv_rvv = for_this_build(make_table());
}  // namespace goldcrest
#endif  // __riscv_vector
