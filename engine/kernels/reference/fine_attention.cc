// SPDX-License-Identifier: Apache-2.0
// The numeric specification of attention with fine rows: queries, keys and values of 16 bits, each as two int8 numbers.
// As in reference.cc, each operation is rounded once. Products of integers are exact.
#include "base/exact_floats.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
void quantize_fine_row(const float* x, uint32_t n, int8_t* high, float* scale) {
  uint32_t amax_bits = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t magnitude = float_bits(x[i]) & 0x7fffffffu;
    if (magnitude > amax_bits) amax_bits = magnitude;
  }
  const bool counts = amax_bits >= kSmallestFineAmax && amax_bits <= kLargestAmax;
  *scale = counts ? bits_float(amax_bits) / kFineSteps : 0.0f;
  const float inverse = counts ? 127.0f / bits_float(amax_bits) : 0.0f;
  int8_t* const low = high + n;
  for (uint32_t i = 0; i < n; ++i) {
    const float y = counts ? x[i] * inverse : 0.0f, rounded = round_half_even(y);
    high[i] = static_cast<int8_t>(rounded);
    low[i] = static_cast<int8_t>(round_half_even((y - rounded) * kHighStep));
  }
}

// args.weights [n_keys] <- the scores of the fine row args.q_row, after soft-max, times the value scales.
void weigh_fine_keys(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* keys, uint32_t head, float q_scale) {
  const float* const key_scales = args.key_scales + head * args.head_stride;
  const float* const value_scales = args.value_scales + head * args.head_stride;
  const float* const bias = row_bias(args, head_bias(args, head), row);
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = key_row(args, t, row);
    const float product = reference_fine_product(args.q_row, keys + at * 2 * args.d_head, args.d_head);
    args.weights[t] = with_bias((product * (q_scale * key_scales[at])) * args.scale, bias, t);
    if (args.weights[t] > largest) largest = args.weights[t];
  }
  const float inverse = reference_exponentials(args.weights, args.n_keys, largest);
  for (uint32_t t = 0; t < args.n_keys; ++t)
    args.weights[t] = (args.weights[t] * inverse) * value_scales[key_row(args, t, row)];
}
}  // namespace

float reference_fine_product(const int8_t* a, const int8_t* b, uint32_t n) {
  int32_t high = 0, mixed = 0;
  for (uint32_t i = 0; i < n; ++i) {
    high += a[i] * b[i];
    mixed += a[i] * b[n + i] + a[n + i] * b[i];
  }
  return (static_cast<float>(high) * kHighStep + static_cast<float>(mixed)) * kHighStep;
}

void reference_quantize_fine(const QuantizeRowsArgs<int8_t>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    quantize_fine_row(
        args.x + row * args.x_stride, args.n, args.q + row * args.q_stride, args.scale + row * args.scale_stride);
  }
}

void reference_fine_attention(const AttentionArgs<int8_t>& args) {
  const uint32_t d_head = args.d_head;
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t first = head * args.head_stride * 2 * d_head, column = size_t{head} * d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      float q_scale;
      quantize_fine_row(args.q + row * args.q_stride + column, d_head, args.q_row, &q_scale);
      weigh_fine_keys(args, row, args.keys + first, head, q_scale);
      float* const out = args.out + row * args.out_stride + column;
      for (uint32_t j = 0; j < d_head; ++j) out[j] = 0.0f;
      for (uint32_t t = 0; t < args.n_keys; ++t) {
        const int8_t* const high = args.values + first + key_row(args, t, row) * 2 * d_head;
        const int8_t* const low = high + d_head;
        for (uint32_t j = 0; j < d_head; ++j)
          out[j] += args.weights[t] * (static_cast<float>(high[j]) * kHighStep + static_cast<float>(low[j]));
      }
    }
  }
}
}  // namespace goldcrest
