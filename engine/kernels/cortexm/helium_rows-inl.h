// SPDX-License-Identifier: Apache-2.0
// Quantization, layer norm, attention, soft-max sums and activations on Helium's four lanes. The 16 partial sums are
// four registers; the scalar unit does the operations that Helium lacks.
#pragma once

#include <arm_mve.h>
#include <string.h>
#include "kernels/kernels.h"
#include "kernels/reference/attention-inl.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest { namespace {
// The four lanes of vector/math-inl.h.
struct V {
  float32x4_t lanes;
};
using Mask = mve_pred16_t;

// The same number in all lanes. Instructions take it from a general register; there are more of these than of vectors.
struct Scalar {
  float value;
  operator V() const { return {vdupq_n_f32(value)}; }
};

inline Scalar set(float x) { return {x}; }

inline V load(const float* p) { return {vld1q_f32(p)}; }
inline void store(float* p, V x) { vst1q_f32(p, x.lanes); }
inline V operator+(V a, V b) { return {vaddq_f32(a.lanes, b.lanes)}; }
inline V operator-(V a, V b) { return {vsubq_f32(a.lanes, b.lanes)}; }
inline V operator*(V a, V b) { return {vmulq_f32(a.lanes, b.lanes)}; }
inline V operator+(V a, Scalar b) { return {vaddq_n_f32(a.lanes, b.value)}; }
inline V operator+(Scalar a, V b) { return b + a; }
inline V operator-(V a, Scalar b) { return {vsubq_n_f32(a.lanes, b.value)}; }
inline V operator*(V a, Scalar b) { return {vmulq_n_f32(a.lanes, b.value)}; }
inline V operator*(Scalar a, V b) { return b * a; }
inline V operator/(V a, V b) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) a.lanes[i] /= b.lanes[i];
  return a;
}
inline V negate(V x) { return {vnegq_f32(x.lanes)}; }
inline V negative(V x) { return {vnegq_f32(vabsq_f32(x.lanes))}; }
inline Mask greater(V a, V b) { return vcmpgtq_f32(a.lanes, b.lanes); }
inline Mask not_less(V a, V b) { return vcmpgeq_f32(a.lanes, b.lanes); }
inline V select(Mask mask, V yes, V no) { return {vpselq_f32(yes.lanes, no.lanes, mask)}; }
inline V keep(Mask mask, V x) { return select(mask, x, set(0.0f)); }
inline V larger(V x, V y) { return select(greater(x, y), x, y); }

struct Power {
  V value;
  int32x4_t lanes;
};

inline Power nearest_power(V x) {
  const int32x4_t n = vcvtnq_s32_f32(x.lanes);
  return {{vcvtq_f32_s32(n)}, n};
}

inline V scale_by_power_of_two(V p, const Power& n) {
  return {vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p.lanes), vshlq_n_s32(n.lanes, 23)))};
}

inline V subtract_exact(V x, V n, Scalar c) { return {vfmaq_n_f32(x.lanes, n.lanes, -c.value)}; }

constexpr int kExpVectors = 1;
}}  // namespace goldcrest

#include "kernels/vector/math-inl.h"

namespace goldcrest { namespace {
// Not inlined: the activations are long, and no inner loop of a layer calls them.
__attribute__((noinline)) V activate_outputs(Activation activation, V y) { return activate(activation, y); }

// Returns the strided sum of the terms with index < n; terms(i) yields four of them. Partial sum l adds elements l, l +
// 16, l + 32 ...; then 8 + 8, 4 + 4, 2 + 2, 1 + 1. Terms past n, up to the next multiple of 16, are computed but not
// added.
template <typename Terms> inline float sum_strided(uint32_t n, Terms terms) {
  V sums[4] = {set(0.0f), set(0.0f), set(0.0f), set(0.0f)};
  uint32_t first = 0;
  for (; first + 16 <= n; first += 16) {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; ++i) sums[i] = sums[i] + terms(first + 4 * i);
  }
#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t before = first + 4 * i;
    if (before < n) sums[i] = select(vctp32q(n - before), sums[i] + terms(before), sums[i]);
  }
  const V four = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  return (four.lanes[0] + four.lanes[2]) + (four.lanes[1] + four.lanes[3]);
}

// Quantizes one row of quantize_rows: q [n] <- x [n]. Returns the scale.
__attribute__((noinline)) float quantize_row(const float* x, size_t n, int8_t* q) {
  const float* end = x;
  const uint32_t blocks = n / 8;
  uint32_t amax_bits = 0;
  asm volatile(
      "vmov.i32 q2, #0\n"
      "vmov.i32 q3, #0\n"
      "dls lr, %[blocks]\n"
      "1:\n"
      "vldrw.32 q0, [%[x]], #16\n"
      "vabs.f32 q0, q0\n"
      "vldrw.32 q1, [%[x]], #16\n"
      "vmax.u32 q2, q2, q0\n"
      "vabs.f32 q1, q1\n"
      "vmax.u32 q3, q3, q1\n"
      "le lr, 1b\n"
      "vmaxv.u32 %[amax_bits], q2\n"
      "vmaxv.u32 %[amax_bits], q3\n"
      : [x] "+r"(end), [amax_bits] "+r"(amax_bits)
      : [blocks] "r"(blocks)
      : "lr", "q0", "q1", "q2", "q3", "memory");
  if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
    memset(q, 0, n);
    return 0.0f;
  }
  // |x * inverse| <= 127 * (1 + 2^-23)^2 rounds to at most 127. Adding 1.5 * 2^23 puts the result into the lowest bits.
  const float amax = bits_float(amax_bits);
  asm volatile(
      "dls lr, %[blocks]\n"
      "1:\n"
      "vldrw.32 q0, [%[x]], #16\n"
      "vmul.f32 q0, q0, %[inverse]\n"
      "vldrw.32 q1, [%[x]], #16\n"
      "vadd.f32 q0, q0, %[rounder]\n"
      "vmul.f32 q1, q1, %[inverse]\n"
      "vstrb.32 q0, [%[q]], #4\n"
      "vadd.f32 q1, q1, %[rounder]\n"
      "vstrb.32 q1, [%[q]], #4\n"
      "le lr, 1b\n"
      : [x] "+r"(x), [q] "+r"(q)
      : [blocks] "r"(blocks), [inverse] "r"(127.0f / amax), [rounder] "r"(12582912.0f)
      : "lr", "q0", "q1", "memory");
  return amax / 127.0f;
}

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) { quantize_by_rows(args, quantize_row); }

__attribute__((noinline)) float sum_of(const float* x, uint32_t n) {
  return sum_strided(n, [x](uint32_t i) { return load(x + i); });
}

void layer_norm(const LayerNormArgs& args) {
  const uint32_t n = args.n, n_padded = args.n_padded;
  const float* const gamma = args.gamma;
  const float* const beta = args.beta;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const Scalar mean = set(args.centred ? sum_of(x, n) * inverse_n : 0.0f);
    const auto squares = [x, mean](uint32_t i) { return (load(x + i) - mean) * (load(x + i) - mean); };
    const float variance = sum_strided(n, squares) * inverse_n;
    const Scalar inverse_deviation = set(1.0f / sqrt_float(variance + args.epsilon));
    const auto normalize = [=](uint32_t i) {
      return ((load(x + i) - mean) * inverse_deviation) * load(gamma + i) + load(beta + i);
    };
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) store(y + i, normalize(i));
    for (; i < n_padded; i += 4) store(y + i, select(i < n ? vctp32q(n - i) : Mask{0}, normalize(i), set(0.0f)));
  }
}

// a . b, both [16 * blocks]
inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t blocks) {
  int32_t sum = 0;
  asm volatile(
      "dls lr, %[blocks]\n"
      "1:\n"
      "vldrb.8 q0, [%[a]], #16\n"
      "vldrb.8 q1, [%[b]], #16\n"
      "vmladava.s8 %[sum], q0, q1\n"
      "le lr, 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [sum] "+Te"(sum)
      : [blocks] "r"(blocks)
      : "lr", "q0", "q1", "memory");
  return sum;
}

// The same as reference_integer_weights.
__attribute__((noinline)) float integer_weights(
    const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, Scalar maximum) {
  float* const weights = args.weights;
  const uint32_t n_keys = args.n_keys;
  for (uint32_t t = 0; t < n_keys; t += 4) store(weights + t, short_exp_vector(load(weights + t) - maximum));
  const float inverse = 1.0f / sum_of(weights, n_keys);
  uint32_t largest_bits = 0;
  KeyRows value_rows(args, row);
  for (uint32_t t = 0; t < n_keys; ++t) {
    weights[t] *= __builtin_fabsf(head.value_scales[value_rows.next()]);
    const uint32_t bits = float_bits(weights[t]) & 0x7fffffffu;
    largest_bits = bits > largest_bits ? bits : largest_bits;
  }
  const IntegerScales scales = integer_scales(largest_bits, sum_of(weights, n_keys), inverse);
  const Scalar to_integer = set(scales.to_integer);
  for (uint32_t t = 0; t < n_keys; t += 4) {
    const int32x4_t integers = vcvtnq_s32_f32((load(weights + t) * to_integer).lanes);
    vst1q_s32(reinterpret_cast<int32_t*>(weights + t), scales.to_integer > 0.0f ? integers : vdupq_n_s32(0));
  }
  return scales.from_sum;
}

// The same as attention_values below with integer weights.
__attribute__((noinline)) void attention_integers(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float factor, float* out) {
  int32x4_t sums[4] = {};
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  for (KeyRows rows(args, row); weight < end; ++weight) {
    const int8_t* const value = values + rows.next() * args.d_head;
    const auto integer = static_cast<int32_t>(float_bits(*weight));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sums[i] = vmlaq_n_s32(sums[i], vldrbq_s32(value + 4 * i), integer);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) store(out + 4 * i, V{vcvtq_f32_s32(sums[i])} * set(factor));
}

// args.weights, padded to 16, <- the scores of one head's query, after soft-max, times the value scales. Returns the
// factor of integer weights.
inline float attention_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  float* const weights = args.weights;
  const int8_t* const q = args.q_row;
  const uint32_t n_keys = args.n_keys, d_head = args.d_head;
  const float scale = args.scale;
  float largest = -__builtin_huge_valf();
  KeyRows key_rows(args, row);
  for (uint32_t t = 0; t < n_keys; ++t) {
    const size_t at = key_rows.next();
    const float product = static_cast<float>(dot(q, head.keys + at * d_head, d_head / 16));
    const float score = (product * (q_scale * head.key_scales[at])) * scale;
    weights[t] = score;
    largest = score > largest ? score : largest;
  }
  const Scalar maximum = set(add_row_bias(args, head.bias, row, largest));
  if (args.has_integers()) return integer_weights(args, row, head, maximum);
  for (uint32_t t = 0; t < n_keys; t += 4) store(weights + t, exp_vector(load(weights + t) - maximum));
  const float inverse = 1.0f / sum_of(weights, n_keys);
  KeyRows value_rows(args, row);
  for (uint32_t t = 0; t < n_keys; ++t) weights[t] = (weights[t] * inverse) * head.value_scales[value_rows.next()];
  return 1.0f;
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for 16 columns.
inline void attention_values(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float factor, float* out) {
  if (args.has_integers()) return attention_integers(args, row, values, factor, out);
  V sums[4] = {set(0.0f), set(0.0f), set(0.0f), set(0.0f)};
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  const size_t d_head = args.d_head;
  for (KeyRows rows(args, row); weight < end; ++weight) {
    const int8_t* value = values + rows.next() * d_head;
    const Scalar all = set(*weight);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sums[i] = sums[i] + V{vcvtq_f32_s32(vldrbq_s32(value + 4 * i))} * all;
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) store(out + 4 * i, sums[i]);
}

void attention(const AttentionArgs<int8_t>& args) {
  attend_by_rows(args, quantize_row, attention_weights, attention_values);
}

// Returns the largest of n logits; if the first logit is not a number, returns it.
inline float largest_logit(const float* logits, uint32_t n) {
  V largest = set(logits[0]);
  uint32_t i = 0;
  for (; i + 4 <= n; i += 4) largest = larger(load(logits + i), largest);
  float single = logits[0];
#pragma GCC unroll 4
  for (int lane = 0; lane < 4; ++lane) single = largest.lanes[lane] > single ? largest.lanes[lane] : single;
  for (; i < n; ++i) single = logits[i] > single ? logits[i] : single;
  // Among zeros the first counts, with its sign.
  for (i = 0; single == 0.0f; ++i)
    if (logits[i] == 0.0f) return logits[i];
  return single;
}

// Computes the largest logit of a row's block and the sum of exponentials.
inline void sum_logits(const float* logits, uint32_t count, float* block_max, float* block_sum) {
  const float largest = largest_logit(logits, count);
  const Scalar maximum = set(largest);
  *block_max = largest;
  *block_sum = sum_strided(count, [logits, maximum](uint32_t i) { return exp_vector(load(logits + i) - maximum); });
}

// Computes the sums of a block from its finished logits.
__attribute__((noinline)) void logit_sums(const LogitSumsArgs& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    sum_logits(args.logits + row * args.logits_stride, args.count, args.block_max + row * args.stride,
        args.block_sum + row * args.stride);
  }
}

inline void output_block_sums(const OutputBlockArgs<int8_t>& args) {
  if (args.block_max != nullptr) logit_sums(logit_sums_of(args));
}
}}  // namespace goldcrest
