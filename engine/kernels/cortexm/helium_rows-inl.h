// SPDX-License-Identifier: Apache-2.0
// Quantization, layer norm, attention, soft-max sums and activations on Helium's four lanes. The 16 partial sums are
// four registers; what only single lanes can do is done in the scalar unit.
#pragma once

#include <arm_mve.h>

#include <cstring>

#include "kernels/cortexm/attention-inl.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {

// The four lanes of vector/math-inl.h.
struct V {
  float32x4_t lanes;
};
using Mask = mve_pred16_t;

// The same number in all lanes. Instructions take it from a general register, which Helium has more of than of vectors.
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
inline Mask greater(V a, V b) { return vcmpgtq_f32(a.lanes, b.lanes); }
inline Mask not_less(V a, V b) { return vcmpgeq_f32(a.lanes, b.lanes); }
inline V select(Mask mask, V yes, V no) { return {vpselq_f32(yes.lanes, no.lanes, mask)}; }
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

}  // namespace
}  // namespace goldcrest

#include "kernels/vector/math-inl.h"
// Its functions first.
#include "kernels/vector/recurrence-inl.h"

namespace goldcrest {
namespace {

// Out of line: the activations are long and no layer's inner loop.
__attribute__((noinline)) V activate_outputs(Activation activation, V y) { return activate(activation, y); }

// The strided sum of the four terms at i for i < n: partial sum l adds elements l, l + 16, l + 32 ...; then 8 + 8,
// 4 + 4, 2 + 2, 1 + 1. Terms past n, up to the next multiple of 16, are computed and left out.
template <typename Terms>
inline float sum_strided(uint32_t n, Terms terms) {
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

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    int8_t* q = args.q + row * args.q_stride;
    uint32x4_t largest = vdupq_n_u32(0);
    for (uint32_t i = 0; i < args.n; i += 4) {
      const uint32x4_t bits = vreinterpretq_u32_f32(vld1q_f32(x + i));
      largest = vmaxq_u32(largest, vandq_u32(bits, vdupq_n_u32(0x7fffffffu)));
    }
    const uint32_t amax_bits = vmaxvq_u32(0, largest);
    if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
      memset(q, 0, args.n);
      args.scale[row * args.scale_stride] = 0.0f;
      continue;
    }
    // |x * inverse| <= 127 * (1 + 2^-23)^2, which rounds to 127 at most; 1.5 * 2^23 leaves it in the lowest bits
    const float amax = bits_float(amax_bits);
    const Scalar inverse = set(127.0f / amax), rounder = set(12582912.0f);
    for (uint32_t i = 0; i < args.n; i += 4) {
      vstrbq_s32(q + i, vreinterpretq_s32_f32((load(x + i) * inverse + rounder).lanes));
    }
    args.scale[row * args.scale_stride] = amax / 127.0f;
  }
}

void layer_norm(const LayerNormArgs& args) {
  const uint32_t n = args.n, n_padded = args.n_padded;
  const float* const gamma = args.gamma;
  const float* const beta = args.beta;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const Scalar mean = set(sum_strided(n, [x](uint32_t i) { return load(x + i); }) * inverse_n);
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

inline int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32_t sum = 0;
  for (const int8_t* const end = a + n; a < end; a += 16, b += 16) sum = vmladavaq_s8(sum, vldrbq_s8(a), vldrbq_s8(b));
  return sum;
}

// Scores of one head's query, then soft-max, times the value scales, in args.weights, which is padded to 16.
inline void attention_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  float* weights = args.weights;
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = key_row(args, t, row);
    const float product = static_cast<float>(dot(args.q_row, head.keys + at * args.d_head, args.d_head));
    const float score = (product * (q_scale * head.key_scales[at])) * args.scale;
    weights[t] = score;
    largest = score > largest ? score : largest;
  }
  const Scalar maximum = set(largest);
  for (uint32_t t = 0; t < args.n_keys; t += 4) store(weights + t, exp_vector(load(weights + t) - maximum));
  const float inverse = 1.0f / sum_strided(args.n_keys, [weights](uint32_t t) { return load(weights + t); });
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    weights[t] = (weights[t] * inverse) * head.value_scales[key_row(args, t, row)];
  }
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for 16 columns.
inline void attention_values(const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float* out) {
  V sums[4] = {set(0.0f), set(0.0f), set(0.0f), set(0.0f)};
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const int8_t* value = values + key_row(args, t, row) * args.d_head;
    const Scalar weight = set(args.weights[t]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      sums[i] = sums[i] + V{vcvtq_f32_s32(vldrbq_s32(value + 4 * i))} * weight;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) store(out + 4 * i, sums[i]);
}

void attention(const AttentionArgs<int8_t>& args) {
  attend_by_rows(args, quantize_rows, attention_weights, attention_values);
}

// The largest of n logits. A first logit that is not a number wins.
inline float largest_logit(const float* logits, uint32_t n) {
  V largest = set(logits[0]);
  uint32_t i = 0;
  for (; i + 4 <= n; i += 4) largest = larger(load(logits + i), largest);
  float single = logits[0];
#pragma GCC unroll 4
  for (int lane = 0; lane < 4; ++lane) single = largest.lanes[lane] > single ? largest.lanes[lane] : single;
  for (; i < n; ++i) single = logits[i] > single ? logits[i] : single;
  // Of zeros the first one counts, with its sign.
  for (i = 0; single == 0.0f; ++i) {
    if (logits[i] == 0.0f) return logits[i];
  }
  return single;
}

// The largest logit of a row's block and the sum of exponentials.
inline void sum_logits(const float* logits, uint32_t count, float* block_max, float* block_sum) {
  const float largest = largest_logit(logits, count);
  const Scalar maximum = set(largest);
  *block_max = largest;
  *block_sum = sum_strided(count, [logits, maximum](uint32_t i) { return exp_vector(load(logits + i) - maximum); });
}

// Of a block, once the logits are there.
inline void output_block_sums(const OutputBlockArgs<int8_t>& args) {
  if (args.block_max == nullptr) return;
  for (uint32_t row = 0; row < args.linear.rows; ++row) {
    sum_logits(args.linear.y + row * args.linear.y_stride, args.count, args.block_max + row * args.stride,
               args.block_sum + row * args.stride);
  }
}

#ifdef GOLDCREST_RULES
void logit_sums(const LogitSumsArgs& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    sum_logits(args.logits + row * args.logits_stride, args.count, args.block_max + row * args.stride,
               args.block_sum + row * args.stride);
  }
}
#endif

}  // namespace
}  // namespace goldcrest
