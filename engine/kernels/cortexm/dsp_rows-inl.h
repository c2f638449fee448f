// SPDX-License-Identifier: Apache-2.0
// Quantization, layer norm, attention and soft-max sums for one number at a time: the 16 partial sums are 16 variables,
// which fit the registers of the floating-point unit.
#pragma once

#include <cstring>

#include "kernels/cortexm/attention-inl.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {

// Bytes 0 and 2, or 1 and 3, of four int8 as two int16.
inline uint32_t even_bytes(uint32_t word) {
  uint32_t pair;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}
inline uint32_t odd_bytes(uint32_t word) {
  uint32_t pair;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}

// sum + a[0] * b[0] + a[1] * b[1]
inline int32_t add_products(uint32_t a, uint32_t b, int32_t sum) {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

// Two words for each four of x's inputs; the words of the next four lie `step` words on. blocks % 4 == 0
__attribute__((noinline)) void expand(const int8_t* x, uint32_t blocks, size_t step, uint32_t* expanded) {
  for (uint32_t block = 0; block < blocks; block += 4, x += 16) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i, expanded += step) {
      const auto word = static_cast<uint32_t>(load_word(x + 4 * i));
      expanded[0] = even_bytes(word);
      expanded[1] = odd_bytes(word);
    }
  }
}

// 8 + 8, 4 + 4, 2 + 2, 1 + 1
inline float sum_lanes(float (&lanes)[16]) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// The strided sum of term(i) for i < n.
template <typename Term>
inline float sum_strided(uint32_t n, Term term) {
  float lanes[16] = {};
  uint32_t first = 0;
  for (; first + 16 <= n; first += 16) {
#pragma GCC unroll 16
    for (uint32_t i = 0; i < 16; ++i) lanes[i] += term(first + i);
  }
  for (uint32_t i = 0; first + i < n; ++i) lanes[i] += term(first + i);
  return sum_lanes(lanes);
}

__attribute__((noinline)) float sum_of(const float* x, uint32_t n) {
  return sum_strided(n, [x](uint32_t i) { return x[i]; });
}

__attribute__((noinline)) float sum_of_squares(const float* x, uint32_t n, float mean) {
  return sum_strided(n, [x, mean](uint32_t i) { return (x[i] - mean) * (x[i] - mean); });
}

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    int8_t* q = args.q + row * args.q_stride;
    uint32_t doubled = 0;  // without the sign bit
#pragma GCC unroll 4
    for (uint32_t i = 0; i < args.n; ++i) {
      const uint32_t bits = float_bits(x[i]) << 1;
      doubled = bits > doubled ? bits : doubled;
    }
    const uint32_t amax_bits = doubled >> 1;
    if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
      memset(q, 0, args.n);
      args.scale[row * args.scale_stride] = 0.0f;
      continue;
    }
    // |x * inverse| <= 127 * (1 + 2^-23)^2, which rounds to 127 at most; 1.5 * 2^23 leaves it in the lowest bits
    const float amax = bits_float(amax_bits);
    const float inverse = 127.0f / amax;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < args.n; ++i) q[i] = static_cast<int8_t>(float_bits(x[i] * inverse + 12582912.0f));
    args.scale[row * args.scale_stride] = amax / 127.0f;
  }
}

void layer_norm(const LayerNormArgs& args) {
  const uint32_t n = args.n;
  const float* const gamma = args.gamma;
  const float* const beta = args.beta;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const float mean = sum_of(x, n) * inverse_n;
    const float variance = sum_of_squares(x, n, mean) * inverse_n;
    const float inverse_deviation = 1.0f / sqrt_float(variance + args.epsilon);
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; ++i) y[i] = ((x[i] - mean) * inverse_deviation) * gamma[i] + beta[i];
    for (uint32_t i = n; i < args.n_padded; ++i) y[i] = 0.0f;
  }
}

constexpr uint32_t kMaxQueryWidth = 128;

// q . key; q: expanded pairs
__attribute__((noinline)) int32_t dot(const uint32_t* q, const int8_t* key, uint32_t d_head) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < d_head; i += 16, key += 16) {
#pragma GCC unroll 4
    for (int block = 0; block < 4; ++block, q += 2) {
      const auto word = static_cast<uint32_t>(load_word(key + 4 * block));
      sum = add_products(odd_bytes(word), q[1], add_products(even_bytes(word), q[0], sum));
    }
  }
  return sum;
}

// Scores of one head's query, then soft-max, times the value scales, in args.weights.
inline void attention_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  uint32_t q[kMaxQueryWidth / 2];
  expand(args.q_row, args.d_head / 4, 2, q);
  float largest = -__builtin_huge_valf();
  float* weights = args.weights;
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = key_row(args, t, row);
    const float product = static_cast<float>(dot(q, head.keys + at * args.d_head, args.d_head));
    const float score = (product * (q_scale * head.key_scales[at])) * args.scale;
    weights[t] = score;
    largest = score > largest ? score : largest;
  }
  for (uint32_t t = 0; t < args.n_keys; ++t) weights[t] = exp_float(weights[t] - largest);
  const float inverse = 1.0f / sum_of(weights, args.n_keys);
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    weights[t] = (weights[t] * inverse) * head.value_scales[key_row(args, t, row)];
  }
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for 16 columns.
inline void attention_values(const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float* out) {
  float sums[16] = {};
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const int8_t* value = values + key_row(args, t, row) * args.d_head;
    const float weight = args.weights[t];
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) sums[j] += weight * static_cast<float>(value[j]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) out[j] = sums[j];
}

void attention(const AttentionArgs<int8_t>& args) {
  if (args.d_head > kMaxQueryWidth) return reference_attention(args);
  attend_by_rows(args, quantize_rows, attention_weights, attention_values);
}

// The largest logit of a row's block and the sum of exponentials.
inline void sum_logits(const float* logits, uint32_t count, float* block_max, float* block_sum) {
  float largest = logits[0];
  for (uint32_t i = 1; i < count; ++i) largest = logits[i] > largest ? logits[i] : largest;
  float lanes[16] = {};
  for (uint32_t i = 0; i < count; ++i) lanes[i % 16] += exp_float(logits[i] - largest);
  *block_max = largest;
  *block_sum = sum_lanes(lanes);
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
