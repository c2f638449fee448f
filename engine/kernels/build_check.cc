// SPDX-License-Identifier: Apache-2.0
// Runs a fixed vector through every kind of arithmetic. This finds, at start-up, a build whose compiler flags change
// the bits.
#include "base/exact_floats.h"
#include "base/hash.h"
#include "kernels/kernels.h"

namespace goldcrest {
namespace {
constexpr uint32_t kRows = 2, kWidth = 32, kHeadWidth = 16;
constexpr Activation kCheckedActivations[] = {
    Activation::kGelu, Activation::kGeluTanh, Activation::kSilu, Activation::kRelu};
constexpr uint64_t kReferenceHash = 0xfb60856c32f2bbb2u;

// Numbers of all magnitudes and signs from a small generator (Numerical Recipes' constants).
struct Numbers {
  uint32_t state;
  uint32_t next() { return state = state * 1664525u + 1013904223u; }
  float real() { return static_cast<float>(static_cast<int32_t>(next()) >> 8) * 1.1920929e-7f; }
  int8_t weight() { return static_cast<int8_t>(static_cast<int32_t>(next() >> 24) % 128); }
};

// The longer arrays that the kernels read and write.
struct Operands {
  int8_t w[kWidth * kWidth];
  float x[kRows * kWidth], y[kRows * kWidth], scale[kWidth], bias[kWidth], gamma[kWidth], beta[kWidth];
};
static_assert(sizeof(Operands) == kBuildCheckBytes, "the caller's scratch holds the operands");
}  // namespace

bool kernels_compute_reference_bits(const Kernels& kernels, void* scratch) {
  auto& [w, x, y, scale, bias, gamma, beta] = *static_cast<Operands*>(scratch);
  alignas(64) int32_t weight_sum[kWidth] = {};
  alignas(64) int8_t q[kRows * kWidth];
  float x_scale[kRows], keys_scale[2 * kRows];
  Numbers numbers = {20170612u};
  for (int8_t& value : w) value = numbers.weight();
  for (float& value : x) value = 3.0f * numbers.real();
  for (uint32_t j = 0; j < kWidth; ++j) {
    scale[j] = 0.01f + 0.001f * numbers.real();
    bias[j] = numbers.real();
    gamma[j] = 1.0f + 0.5f * numbers.real();
    beta[j] = numbers.real();
    for (uint32_t k = 0; k < kWidth; ++k) weight_sum[j] += w[j / 16 * 16 * kWidth + k / 4 * 64 + j % 16 * 4 + k % 4];
  }

  uint64_t hash = kHashStart;
  for (Activation activation : kCheckedActivations) {
    kernels.int8.quantize_rows({x, q, x_scale, kWidth, kWidth, 1, kRows, kWidth});
    kernels.int8.linear(
        {q, x_scale, w, scale, bias, weight_sum, x, y, kWidth, kRows, kWidth, kWidth, Layout::kN16K4, activation});
    kernels.layer_norm({y, x, gamma, beta, kWidth, kRows, kWidth, kWidth, 1e-5f});
    hash = hash_floats(hash_floats(hash, y, kRows * kWidth), x, kRows * kWidth);
  }
  // Two heads of 16. The rows are keys, values and queries at the same time.
  for (uint32_t row = 0; row < kRows; ++row) {
    kernels.int8.quantize_rows({x + row * kWidth, q + row * kHeadWidth, keys_scale + row, kHeadWidth,
        kRows * kHeadWidth, kRows, 2, kHeadWidth});
  }
  AttentionArgs<int8_t> args = {};
  args.q = x;
  args.keys = args.values = q;
  args.key_scales = args.value_scales = keys_scale;
  args.out = y;
  args.weights = gamma;  // gamma is no longer needed
  args.q_row = reinterpret_cast<int8_t*>(beta);
  args.q_stride = args.out_stride = kWidth;
  args.head_stride = kRows;
  args.position_stride = 1;
  args.rows = kRows;
  args.n_keys = kRows;
  args.n_heads = 2;
  args.d_head = kHeadWidth;
  args.scale = 0.25f;
  kernels.int8.attention(args);
  return hash_floats(hash, y, kRows * kWidth) == kReferenceHash;
}
}  // namespace goldcrest
