// SPDX-License-Identifier: Apache-2.0
// RISC-V without vectors. A tile of four rows by four outputs uses each loaded weight and input four times; its 16 sums
// fit the 32 registers. With an FPU, fused products and sums of floats multiply the integers: one instruction instead
// of two, and exact because a sum has no more bits than the mantissa.
#include "base/exact_floats.h"

#if defined(__riscv)
#include "kernels/reference/attention-inl.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
#include "kernels/riscv/floats-inl.h"

namespace goldcrest {
namespace {
// The products of some rows' inputs with one output, summed. An Input is what a Sum multiplies by a weight.
#if defined(__riscv_flen) && __riscv_flen >= 64
// The inputs of two rows are x0 + 2^26 x1, so the sum has both rows' sums in its 53 bits.
struct Sum {
  using Input = double;
  static constexpr uint32_t kRows = 2;
  static constexpr double kSecond = 67108864.0, kHalf = kSecond / 2;
  double sums = 0.0;

  static Input expand(int8_t x, uint32_t r, Input before) { return r == 0 ? x : before + kSecond * x; }
  void add(Input x, Input w) { sums = __builtin_fma(x, w, sums); }
  int32_t of_row(uint32_t r) const {
    constexpr int32_t kOffset = 1 << 22;  // makes the quotient positive, because conversions truncate
    const int32_t second = static_cast<int32_t>((sums + kHalf) * (1.0 / kSecond) + kOffset) - kOffset;
    return r == 0 ? static_cast<int32_t>(sums - kSecond * second) : second;
  }
};
#elif defined(__riscv_flen)
struct Sum {
  using Input = float;
  static constexpr uint32_t kRows = 1;
  float sum = 0.0f;

  static Input expand(int8_t x, uint32_t, Input) { return x; }
  void add(Input x, Input w) { sum = __builtin_fmaf(x, w, sum); }
  int32_t of_row(uint32_t) const { return static_cast<int32_t>(sum); }
};
#else
struct Sum {
  using Input = int8_t;
  static constexpr uint32_t kRows = 1;
  int32_t sum = 0;

  static Input expand(int8_t x, uint32_t, Input) { return x; }
  void add(Input x, Input w) {
    sum += x * w;
    asm volatile("" : "+r"(sum));  // otherwise GCC makes many products before it adds them, and runs out of registers
  }
  int32_t of_row(uint32_t) const { return sum; }
};
#endif
using Input = Sum::Input;

constexpr uint32_t kGroupOutputs = 64;  // their sums are stored at a time
constexpr uint32_t kUnpacked = 64;      // inputs whose packed weights become int8 at a time

// A tile has kRows rows, which are kNumbers sums for each output.
template <uint32_t kRows> struct Tile {
  static constexpr uint32_t kNumbers = (kRows + Sum::kRows - 1) / Sum::kRows;
  static constexpr uint32_t kOutputs = kNumbers == 4 ? 4 : 8;
  static constexpr uint32_t kChunk = 1024 / sizeof(Input) / kNumbers;  // inputs that are expanded at a time
};

// Expands some inputs of a tile's rows: to[i, number]. inputs % 4 == 0
template <uint32_t kRows> void expand(const int8_t* x, size_t k, uint32_t inputs, Input* to) {
  constexpr uint32_t kNumbers = Tile<kRows>::kNumbers;
  for (uint32_t r = 0; r < kRows; ++r, x += k) {
    Input* number = to + r / Sum::kRows;
    for (const int8_t *from = x, *end = x + inputs; from < end;) {
#pragma GCC unroll 4
      for (uint32_t i = 0; i < 4; ++i, ++from, number += kNumbers)
        *number = Sum::expand(*from, r % Sum::kRows, *number);
    }
  }
}

// sums[r, j] (+)= products of expanded inputs with a tile's outputs, whose first weights are at w.
template <uint32_t kRows>
inline void add_products(const Input* x, uint32_t inputs, const int8_t* w, bool continued, int32_t* sums) {
  constexpr uint32_t kNumbers = Tile<kRows>::kNumbers, kOutputs = Tile<kRows>::kOutputs;
  Sum tile[kOutputs][kNumbers];
  const Input* const end = x + inputs * kNumbers;
  do {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; ++i, x += kNumbers) {
#pragma GCC unroll 8
      for (uint32_t j = 0; j < kOutputs; ++j) {
        const auto weight = static_cast<Input>(w[4 * j + i]);
#pragma GCC unroll 4
        for (uint32_t m = 0; m < kNumbers; ++m) tile[j][m].add(x[m], weight);
      }
      asm volatile("" : : : "memory");  // otherwise GCC loads the numbers of all four steps first
    }
    w += 64;
  } while (x < end);
#pragma GCC unroll 4
  for (uint32_t r = 0; r < kRows; ++r, sums += kGroupOutputs) {
#pragma GCC unroll 8
    for (uint32_t j = 0; j < kOutputs; ++j) {
      const int32_t sum = tile[j][r / Sum::kRows].of_row(r % Sum::kRows);
      sums[j] = continued ? sums[j] + sum : sum;
    }
  }
}

// Turns a row's sums into `outputs` outputs, from `first` on.
void finish(const LinearArgs<int8_t>& args, uint32_t row, uint32_t first, uint32_t outputs, const int32_t* sums) {
  const Activation activation = args.activation;
  const float x_scale = args.x_scale[row];
  const float *w_scale = args.w_scale + first, *bias = args.bias + first;
  float* y = args.y + row * args.y_stride + first;
  const float* residual = args.residual != nullptr ? args.residual + (y - args.y) : nullptr;
  for (const int32_t* const end = sums + outputs; sums < end; ++sums, ++w_scale, ++bias, ++y) {
    float value = add(multiply(to_float(*sums), multiply(x_scale, *w_scale)), *bias);
    if (activation == Activation::kRelu) value = apply_relu(value);
    else if (activation != Activation::kNone) value = reference_activate(activation, value);
    if (residual != nullptr) value = add(value, *residual++);
    *y = value;
  }
}

// Computes all outputs of a tile's rows.
template <uint32_t kRows> void linear_rows(const LinearArgs<int8_t>& args, uint32_t row) {
  constexpr uint32_t kChunk = Tile<kRows>::kChunk;
  Input expanded[kChunk * Tile<kRows>::kNumbers];
  int32_t sums[kRows * kGroupOutputs];
  int8_t unpacked[kHasPacked ? 16 * kUnpacked : 1];
  const uint32_t n = args.n, k = args.k, chunk = args.is_packed() ? kUnpacked : kChunk;
  for (uint32_t first = 0; first < n; first += kGroupOutputs) {
    const uint32_t outputs = n - first < kGroupOutputs ? n - first : kGroupOutputs;
    for (uint32_t input = 0; input < k; input += chunk) {
      const uint32_t inputs = k - input < chunk ? k - input : chunk;
      if (first == 0 || k > chunk) expand<kRows>(args.x + size_t{row} * k + input, k, inputs, expanded);
      const int8_t* w = args.w + size_t{first} * k + 16 * input;
      for (uint32_t j = 0; j < outputs; j += 16, w += 16 * k) {
        if (args.is_packed()) goldcrest::expand(packed_matrix(args), {first + j, 16}, {input, inputs}, unpacked);
        const int8_t* const of_panel = args.is_packed() ? unpacked : w;
        for (uint32_t i = 0; i < 16; i += Tile<kRows>::kOutputs)
          add_products<kRows>(expanded, inputs, of_panel + 4 * i, input > 0, sums + j + i);
      }
    }
    for (uint32_t r = 0; r < kRows; ++r) finish(args, row + r, first, outputs, sums + r * kGroupOutputs);
  }
}

void linear(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  uint32_t row = 0;
  for (; row + 4 <= args.rows; row += 4) linear_rows<4>(args, row);
  for (; row + 2 <= args.rows; row += 2) linear_rows<2>(args, row);
  if (row < args.rows) linear_rows<1>(args, row);
}

void output_block(const OutputBlockArgs<int8_t>& args) {
  linear(args.linear);
  if (args.block_max != nullptr) reference_logit_sums(logit_sums_of(args));
}

// Quantizes one row: q [n] <- x [n]. Returns the scale. n % 16 == 0
float quantize_row(const float* x, size_t n, int8_t* q) {
  constexpr uint32_t kMagnitude = 0x7fffffffu;
  const float* const end = x + n;
  uint32_t amax_bits = 0;
  for (const float* from = x; from < end; from += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const uint32_t magnitude = float_bits(from[i]) & kMagnitude;
      if (magnitude > amax_bits) amax_bits = magnitude;
    }
  }
  if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
    memset(q, 0, n);
    return 0.0f;
  }
  const float amax = bits_float(amax_bits);
  const float inverse = 127.0f / amax;
  // |x * inverse| <= 127 * (1 + 2^-23)^2, so it rounds to at most 127.
  if (!kHasFpu) {
    while (x < end) *q++ = static_cast<int8_t>(soft_round_product(*x++, inverse));
    return amax / 127.0f;
  }
  // The sum has the result in its lowest bits.
  for (; x < end; x += 4, q += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) q[i] = static_cast<int8_t>(float_bits(add(multiply(x[i], inverse), 12582912.0f)));
  }
  return amax / 127.0f;
}

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) { quantize_by_rows(args, quantize_row); }

// Returns the strided sum of x, or of (x - mean)^2.
template <bool kSquares> float sum_strided(const float* x, uint32_t n, float mean) {
  const auto term = [mean](float number) {
    const float difference = kSquares ? subtract(number, mean) : 0.0f;
    return kSquares ? multiply(difference, difference) : number;
  };
  float sums[16] = {}, lanes[16];
  const float* const end = x + n;
  for (; end - x >= 16; x += 16) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) sums[i] = add(sums[i], term(x[i]));
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) lanes[i] = sums[i];
  for (float* lane = lanes; x < end; ++x, ++lane) *lane = add(*lane, term(*x));
  return reference_sum_lanes(lanes);
}

void layer_norm(const LayerNormArgs& args) {
  const uint32_t n = args.n;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const float *gamma = args.gamma, *beta = args.beta;
    const float mean = args.centred ? sum_strided<false>(x, n, 0.0f) * inverse_n : 0.0f;
    const float variance = sum_strided<true>(x, n, mean) * inverse_n;
    const float inverse_deviation = 1.0f / sqrt_float(variance + args.epsilon);
    for (uint32_t i = 0; i < n; ++i)
      y[i] = add(multiply(multiply(subtract(x[i], mean), inverse_deviation), *gamma++), *beta++);
    for (uint32_t i = n; i < args.n_padded; ++i) y[i] = 0.0f;
  }
}

int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32_t sum = 0;
  for (const int8_t* const end = a + n; a < end; a += 8, b += 8) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) sum += a[i] * b[i];
  }
  return sum;
}

// reference_exponentials without an FPU; no x is larger than `largest`.
[[gnu::noinline, maybe_unused]] float soft_exponentials(float* x, uint32_t n, float largest) {
  float lanes[16] = {};
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = soft_exponential(soft_add(x[i], -largest));
    lanes[i % 16] = soft_add(lanes[i % 16], x[i]);
  }
  return 1.0f / reference_sum_lanes(lanes);
}

// args.weights <- the scores of one head's query, after soft-max, times the value scales. Returns the factor of integer
// weights.
inline float attention_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  float largest = -__builtin_huge_valf();
  float* const end = args.weights + args.n_keys;
  KeyRows key_rows(args, row);
  for (float* weight = args.weights; weight < end; ++weight) {
    const size_t at = key_rows.next();
    const float product = to_float(dot(args.q_row, head.keys + at * args.d_head, args.d_head));
    *weight = multiply(multiply(product, multiply(q_scale, head.key_scales[at])), args.scale);
    largest = *weight > largest ? *weight : largest;
  }
  largest = add_row_bias(args, head.bias, row, largest);
  if (args.has_integers()) return reference_integer_weights(args, row, head, largest);
  const float inverse = kHasFpu ? reference_exponentials(args.weights, args.n_keys, largest)
                                : soft_exponentials(args.weights, args.n_keys, largest);
  KeyRows value_rows(args, row);
  for (float* weight = args.weights; weight < end; ++weight)
    *weight = multiply(multiply(*weight, inverse), head.value_scales[value_rows.next()]);
  return 1.0f;
}

// The same as attention_values below, with integer weights.
void attention_integers(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float factor, float* out) {
  int32_t sums[16] = {};
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  for (KeyRows rows(args, row); weight < end; ++weight) {
    const int8_t* const value = values + rows.next() * args.d_head;
    const auto integer = static_cast<int32_t>(float_bits(*weight));
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) sums[j] += integer * value[j];
  }
  for (int j = 0; j < 16; ++j) out[j] = multiply(to_float(sums[j]), factor);
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for 16 columns.
inline void attention_values(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float factor, float* out) {
  if (args.has_integers()) return attention_integers(args, row, values, factor, out);
  float sums[16] = {};
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  for (KeyRows rows(args, row); weight < end; ++weight) {
    const int8_t* const value = values + rows.next() * args.d_head;
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) sums[j] = add(sums[j], multiply_int8(*weight, value[j]));
  }
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) out[j] = sums[j];
}

void attention(const AttentionArgs<int8_t>& args) {
  attend_by_rows(args, quantize_row, attention_weights, attention_values);
}

constexpr Kernels make_table() {
  Kernels table = kReferenceTable;
  table.name = "riscv_scalar";
  table.int8 = {quantize_rows, linear, table.int8.embed, attention, output_block};
  table.layer_norm = layer_norm;
  return table;
}
}  // namespace

extern const Kernels kernels_riscv_scalar;
constexpr Kernels kernels_riscv_scalar = for_this_build(make_table());
}  // namespace goldcrest
#endif  // __riscv
