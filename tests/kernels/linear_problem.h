// SPDX-License-Identifier: Apache-2.0
// Linear layers and attention of the models' shapes with seeded contents, for the programs that time kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include "kernels/kernels.h"
#include "support/rng.h"

namespace goldcrest::test {
struct LinearShape {
  uint32_t n, k;
};

constexpr LinearShape kModelShapes[] = {
    {1536, 512}, {512, 512}, {2048, 512}, {512, 2048}, {32000, 512}, {54688, 512},  // base, OPUS-MT
    {768, 256}, {256, 256}, {1024, 256}, {256, 1024}, {8000, 256},                  // small
    {384, 128}, {128, 128}, {512, 128}, {128, 512}, {4000, 128},                    // tiny
};

// Zeroed memory that starts on a cache line, as the engine's does.
template <typename T> class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t n) : values_(static_cast<T*>(::operator new(n * sizeof(T), kAlignment))), n_(n) {
    std::memset(values_, 0, n * sizeof(T));
  }
  ~AlignedBuffer() { ::operator delete(values_, kAlignment); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  T* begin() { return values_; }
  T* end() { return values_ + n_; }
  T& operator[](size_t i) { return values_[i]; }
 private:
  static constexpr std::align_val_t kAlignment{64};
  T* values_;
  size_t n_;
};

inline void fill_int8(AlignedBuffer<int8_t>& buffer) {
  Rng rng(1);
  for (int8_t& value : buffer) value = rng.weight();
}

// One linear layer: rows x k times n x k, with weights that are packed as by the converter.
class LinearProblem {
 public:
  LinearProblem(LinearShape shape, uint32_t rows)
      : w(size_t{shape.n} * shape.k),
        x(size_t{rows} * shape.k),
        x_scale(rows),
        w_scale(shape.n),
        bias(shape.n),
        weight_sum(shape.n),
        y(size_t{rows} * shape.n),
        shape_(shape),
        rows_(rows) {
    fill_int8(w);
    fill_int8(x);
    Rng rng(2);
    for (float& value : x_scale) value = 0.01f + 0.005f * rng.uniform();
    for (float& value : w_scale) value = 0.01f + 0.005f * rng.uniform();
    for (float& value : bias) value = rng.uniform();
    for (uint32_t output = 0; output < shape.n; ++output)
      for (uint32_t input = 0; input < shape.k; ++input) weight_sum[output] += weight(output, input);
  }

  int8_t weight(uint32_t output, uint32_t input) {
    const size_t block = size_t{output / 16} * shape_.k / 4 + input / 4;  // N16K4: 16 outputs x 4 inputs
    return w[64 * block + 4 * (output % 16) + input % 4];
  }

  LinearArgs<int8_t> args() {
    return {.x = x.begin(),
        .x_scale = x_scale.begin(),
        .w = w.begin(),
        .w_scale = w_scale.begin(),
        .bias = bias.begin(),
        .weight_sum = weight_sum.begin(),
        .y = y.begin(),
        .y_stride = shape_.n,
        .rows = rows_,
        .n = shape_.n,
        .k = shape_.k,
        .layout = Layout::kN16K4,
        .activation = Activation::kNone};
  }

  AlignedBuffer<int8_t> w, x;
  AlignedBuffer<float> x_scale, w_scale, bias;
  AlignedBuffer<int32_t> weight_sum;
  AlignedBuffer<float> y;
 private:
  LinearShape shape_;
  uint32_t rows_;
};

// Rows of one sentence that attend to its keys, as in cross-attention, with heads of 64.
class AttentionProblem {
 public:
  static constexpr uint32_t kHead = 64;

  AttentionProblem(uint32_t n_heads, uint32_t n_keys, uint32_t rows)
      : q(size_t{rows} * n_heads * kHead),
        out(size_t{rows} * n_heads * kHead),
        scales(size_t{n_heads} * n_keys),
        weights(n_keys + 15),
        keys(size_t{n_keys} * n_heads * kHead),
        values(size_t{n_keys} * n_heads * kHead),
        q_row(kHead),
        n_heads_(n_heads),
        n_keys_(n_keys),
        rows_(rows) {
    Rng rng(2);
    for (float& value : q) value = rng.uniform();
    fill_int8(keys);
    fill_int8(values);
    std::fill(scales.begin(), scales.end(), 0.01f);
  }

  AttentionArgs<int8_t> args() {
    AttentionArgs<int8_t> args = {};
    args.q = q.begin();
    args.keys = keys.begin();
    args.values = values.begin();
    args.key_scales = args.value_scales = scales.begin();
    args.out = out.begin();
    args.weights = weights.begin();
    args.q_row = q_row.begin();
    args.q_stride = args.out_stride = size_t{n_heads_} * kHead;
    args.head_stride = n_keys_;
    args.position_stride = 1;
    args.rows = rows_;
    args.n_keys = n_keys_;
    args.n_heads = n_heads_;
    args.d_head = kHead;
    args.scale = 0.125f;
    return args;
  }

  AlignedBuffer<float> q, out, scales, weights;
  AlignedBuffer<int8_t> keys, values, q_row;
 private:
  uint32_t n_heads_, n_keys_, rows_;
};
}  // namespace goldcrest::test
