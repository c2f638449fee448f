// SPDX-License-Identifier: Apache-2.0
// The contract of the kernel tables. reference.cc is the specification: every table equals it bit for bit, whatever the
// arguments' bits. Rows and columns are padded to multiples of 16 by the caller; no kernel touches memory beyond the
// shapes.
//
// An ISA is one translation unit that exports one const table; a slot not worth writing points at the reference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/model_view.h"

namespace goldcrest {

// Finds each row's scale and rounds it to int8 (design: symmetric, [-127, 127]).
//   amax = max |x|; amax < 2^-40 or > 2^56 (or not a number): q = 0, scale = 0
//   else q = round_half_even(x * (127 / amax)), scale = amax / 127
struct QuantizeRowsArgs {
  const float* x;                           // [rows, n], row stride x_stride
  int8_t* q;                                // [rows, n], row stride q_stride
  float* scale;                             // [rows], stride scale_stride
  size_t x_stride, q_stride, scale_stride;  // elements
  uint32_t rows, n;                         // n % 16 == 0
};

// y[m, j] = activation(float(sum over k of x[m, k] * w[j, k]) * (x_scale[m] * w_scale[j]) + bias[j]) + residual[m, j]
struct LinearArgs {
  const int8_t* x;            // [rows, k]
  const float* x_scale;       // [rows]
  const int8_t* w;            // [n, k] in `layout`
  const float* w_scale;       // [n]
  const float* bias;          // [n]
  const int32_t* weight_sum;  // [n], the sum over k of w[j, k]; for instructions that multiply unsigned by signed
  const float* residual;      // [rows, n], row stride y_stride; null: none; may be y
  float* y;                   // [rows, n], row stride y_stride
  size_t y_stride;            // elements
  uint32_t rows, n, k;        // n % 16 == 0, k % 16 == 0
  Layout layout;
  Activation activation;
};

// One row of an embedding: y[j] = float(w[token, j]) * (w_scale[token] * embedding_scale) + position[j]
struct EmbedArgs {
  const int8_t* w;        // [vocab_size padded, n] in `layout`
  const float* w_scale;   // [vocab_size padded]
  const float* position;  // [n]
  float* y;               // [n]
  uint32_t token, n;
  float embedding_scale;
  Layout layout;
};

// y = ((x - mean) * (1 / sqrt(mean((x - mean)^2) + epsilon))) * gamma + beta, row by row over the first n columns.
struct LayerNormArgs {
  const float* x;      // [rows, n_padded], row stride `stride`
  float* y;            // the same; may be x
  const float* gamma;  // [n_padded]
  const float* beta;   // [n_padded]
  size_t stride;       // elements
  uint32_t rows, n, n_padded;
  float epsilon;
};

// Scaled dot-product attention of some query rows over one sentence's int8 keys and values (Vaswani et al. 2017, eq.
// 1). Key t of row r lies at row  t * position_stride + (ancestor ? ancestor[t * ancestor_stride + r] : 0)  of its
// head.
struct AttentionArgs {
  const float* q;             // [rows, n_heads, d_head], row stride q_stride
  const int8_t* keys;         // head h at h * head_stride * d_head; rows of [d_head]
  const int8_t* values;       // likewise
  const float* key_scales;    // head h at h * head_stride
  const float* value_scales;  // likewise
  const uint8_t* ancestor;    // [n_keys, ancestor_stride] or null
  float* out;                 // [rows, n_heads, d_head], row stride out_stride
  float* weights;             // scratch [n_keys padded to 16]
  int8_t* q_row;              // scratch [d_head]
  size_t q_stride, out_stride, head_stride, position_stride, ancestor_stride;
  uint32_t rows, n_keys, n_heads, d_head;  // n_keys >= 1
  float scale;                             // usually 1 / sqrt(d_head)
};

constexpr uint32_t kOutputBlock = 256;  // outputs in one block of the log-sum-exp

// One block of the output layer: logits, their largest and the sum of exp(logit - largest).
struct OutputBlockArgs {
  LinearArgs linear;  // n: the block's outputs, padded; y: logits, row stride kOutputBlock
  uint32_t count;     // the block's outputs, not padded, 1..256
  float* block_max;   // [rows], stride `stride`; null: neither is wanted
  float* block_sum;   // [rows], stride `stride`
  size_t stride;      // elements
};

struct Kernels {
  const char* name;       // what goldcrest_kernels_name() returns
  uint32_t cpu_features;  // CpuFeature bits that it needs; 0 runs anywhere
  void (*quantize_rows)(const QuantizeRowsArgs&);
  void (*linear)(const LinearArgs&);
  void (*embed)(const EmbedArgs&);
  void (*layer_norm)(const LayerNormArgs&);
  void (*attention)(const AttentionArgs&);
  void (*output_block)(const OutputBlockArgs&);
  // The first index in [begin, end) with x[index] > threshold, or end.
  uint32_t (*next_above)(const float* x, uint32_t begin, uint32_t end, float threshold);
  // CRC-32C, continued from `crc`.
  uint32_t (*crc32c)(uint32_t crc, const void* bytes, size_t n);
  // Every weight is in [-127, 127] and every row's sum is what weight_sum says.
  bool (*weights_valid)(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);
};

// The tables that this build has and this CPU runs, best first; null past the end.
const Kernels* kernels_at(uint32_t index);

// The table for `name`; null name: the best that this CPU runs (the environment variable GOLDCREST_KERNELS overrides it
// where there is one). Null for a name that this build or CPU lacks.
const Kernels* select_kernels(const char* name);

// A fixed vector through linear, layer norm and soft-max gives the hash that the reference gave: this build keeps the
// bits.
bool kernels_compute_reference_bits(const Kernels& kernels);

}  // namespace goldcrest
