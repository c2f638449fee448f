// SPDX-License-Identifier: Apache-2.0
// The numeric specification of float32 files. As in reference.cc, each operation is rounded once. Sums of products are
// 16 strided partial sums and a fixed tree, so that vectors of any width give the same bits.
#include "base/exact_floats.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
constexpr uint32_t kSmallestInput = 0x21800000u;  // bits of 2^-60

// Where a CPU has no vectors, compilers compute the lanes one by one.
typedef float Lanes __attribute__((vector_size(16), aligned(4), may_alias));

// n % 16 == 0
float dot(const float* a, const float* b, uint32_t n) {
  Lanes lanes[4] = {};
  const auto *x = reinterpret_cast<const Lanes*>(a), *y = reinterpret_cast<const Lanes*>(b);
  for (; n > 0; n -= 16, x += 4, y += 4) {
    lanes[0] += x[0] * y[0];
    lanes[1] += x[1] * y[1];
    lanes[2] += x[2] * y[2];
    lanes[3] += x[3] * y[3];
  }
  return reference_sum_lanes(reinterpret_cast<float*>(lanes));
}
}  // namespace

void reference_quantize_floats(const QuantizeRowsArgs<float>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* q = args.q + row * args.q_stride;
    uint32_t amax_bits = 0;
    for (uint32_t i = 0; i < args.n; ++i) {
      const uint32_t magnitude = float_bits(x[i]) & 0x7fffffffu;
      if (magnitude > amax_bits) amax_bits = magnitude;
    }
    const bool counts = amax_bits >= kSmallestAmax && amax_bits <= kLargestAmax;
    for (uint32_t i = 0; i < args.n; ++i)
      q[i] = counts && (float_bits(x[i]) & 0x7fffffffu) >= kSmallestInput ? x[i] : 0.0f;
  }
}

void reference_linear_floats(const LinearArgs<float>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    for (uint32_t output = 0; output < args.n; ++output) {
      float y = dot(args.x + size_t{row} * args.k, args.w + size_t{output} * args.k, args.k) + args.bias[output];
      y = reference_activate(args.activation, y);
      const size_t at = row * args.y_stride + output;
      args.y[at] = args.residual ? y + args.residual[at] : y;
    }
  }
}

namespace {
void embed(const EmbedArgs<float>& args) {
  const float* w = args.w + size_t{args.token} * args.n;
  for (uint32_t j = 0; j < args.n; ++j) args.y[j] = w[j] * args.embedding_scale + args.position[j];
}

// args.weights [n_keys] <- the scores of the query in args.q_row against every key of a head, after soft-max.
void attention_weights(const AttentionArgs<float>& args, uint32_t row, const float* keys, const float* bias) {
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const float product = dot(args.q_row, keys + key_row(args, t, row) * args.d_head, args.d_head);
    const float score = with_bias(product * args.scale, bias, t);
    args.weights[t] = score;
    if (score > largest) largest = score;
  }
  const float inverse = reference_exponentials(args.weights, args.n_keys, largest);
  for (uint32_t t = 0; t < args.n_keys; ++t) args.weights[t] = args.weights[t] * inverse;
}

void attention(const AttentionArgs<float>& args) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t first = head * args.head_stride * args.d_head, column = size_t{head} * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      reference_quantize_floats(
          {args.q + row * args.q_stride + column, args.q_row, nullptr, args.d_head, args.d_head, 0, 1, args.d_head});
      attention_weights(args, row, args.keys + first, row_bias(args, head_bias(args, head), row));
      float* out = args.out + row * args.out_stride + column;
      for (uint32_t j = 0; j < args.d_head; ++j) out[j] = 0.0f;
      for (uint32_t t = 0; t < args.n_keys; ++t) {
        const float* value = args.values + first + key_row(args, t, row) * args.d_head;
        for (uint32_t j = 0; j < args.d_head; ++j) out[j] += args.weights[t] * value[j];
      }
    }
  }
}

void output_block(const OutputBlockArgs<float>& args) {
  reference_linear_floats(args.linear);
  if (args.block_max != nullptr) reference_logit_sums(logit_sums_of(args));
}
}  // namespace

constexpr TypedKernels<float> kernels_reference_float32 = {
    reference_quantize_floats, reference_linear_floats, embed, attention, output_block};
}  // namespace goldcrest
