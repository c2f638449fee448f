// SPDX-License-Identifier: Apache-2.0
// The contract of the kernel tables. reference.cc is the specification: every table equals it bit for bit, whatever the
// arguments' bits. Rows and columns are padded to multiples of 16 by the caller; no kernel touches memory beyond the
// shapes.
//
// An ISA is one translation unit that exports one const table; a slot not worth writing points at the reference.
//
// The one exception is a backend: a library of compute kernels beside the tables (XNNPACK, goldcrest/xnnpack.h). The
// table that it gives an engine is close, not equal. Of a linear layer, before the activation,
//   |y - reference y| <= 2^-21 * (|sum * x_scale * w_scale| + |bias|) + 2^-126
// since the sums are the same integers, and each side rounds at most three times after them, here two multiplications
// and an addition, there two of each, some of them fused, with results below 2^-126 maybe 0: at most six halves of an
// ulp. Logits, for the same source and the same tokens before them, lie within kCloseLogits of the position's largest
// magnitude: a last bit can move a value over the edge between two int8 steps, and the layers above spread that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/model_view.h"

namespace goldcrest {

// How far logits of a backend's table may lie from the reference's, as a part of the largest of a position.
constexpr float kCloseLogits = 0.0625f;

struct PreparedLayer;

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
  const PreparedLayer* prepared = nullptr;  // for a backend's table; the others read w
  bool alone = false;                       // no other task of this engine runs: a backend may use all threads
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

// What float32 files need in place of the int8 operations above (FORMAT.md, "Float32 files").

// y = x, but for what could make an infinity or a denormal further on:
//   amax = max |x|; amax < 2^-40 or > 2^56 (or not a number): the row is zeros
//   values with |x| < 2^-60 are zeros
struct CopyRowsArgs {
  const float* x;             // [rows, n], row stride x_stride
  float* y;                   // [rows, n], row stride y_stride; may be x
  size_t x_stride, y_stride;  // elements
  uint32_t rows, n;           // n % 16 == 0
};

// y[m, j] = activation(sum over k of x[m, k] * w[j, k] + bias[j]) + residual[m, j]. The sum is 16 strided partial sums
// and a fixed tree.
struct LinearFloatArgs {
  const float* x;         // [rows, k], copied rows
  const float* w;         // [n, k]
  const float* bias;      // [n]
  const float* residual;  // [rows, n], row stride y_stride; null: none; may be y
  float* y;               // [rows, n], row stride y_stride
  size_t y_stride;        // elements
  uint32_t rows, n, k;    // n % 16 == 0, k % 16 == 0
  Activation activation;
  const PreparedLayer* prepared = nullptr;  // for a backend's table; the others read w
  bool alone = false;                       // no other task of this engine runs: a backend may use all threads
};

// One row of an embedding: y[j] = w[token, j] * embedding_scale + position[j]
struct EmbedFloatArgs {
  const float* w;         // [vocab_size padded, n]
  const float* position;  // [n]
  float* y;               // [n]
  uint32_t token, n;
  float embedding_scale;
};

// As AttentionArgs, over float keys and values. Products are sums as in LinearFloatArgs.
struct AttentionFloatArgs {
  const float* q;           // [rows, n_heads, d_head], row stride q_stride
  const float* keys;        // head h at h * head_stride * d_head; rows of [d_head], copied rows
  const float* values;      // likewise
  const uint8_t* ancestor;  // [n_keys, ancestor_stride] or null
  float* out;               // [rows, n_heads, d_head], row stride out_stride
  float* weights;           // scratch [n_keys padded to 16]
  float* q_row;             // scratch [d_head]
  size_t q_stride, out_stride, head_stride, position_stride, ancestor_stride;
  uint32_t rows, n_keys, n_heads, d_head;  // n_keys >= 1
  float scale;
};

// The largest of each row's first `count` logits and the sum of exp(logit - largest), as OutputBlockArgs has them.
struct LogitSumsArgs {
  const float* logits;           // [rows, count], row stride logits_stride
  float* block_max;              // [rows], stride `stride`
  float* block_sum;              // [rows], stride `stride`
  size_t logits_stride, stride;  // elements
  uint32_t rows, count;          // count >= 1
};

struct FloatKernels {
  void (*copy_rows)(const CopyRowsArgs&);
  void (*linear)(const LinearFloatArgs&);
  void (*embed)(const EmbedFloatArgs&);
  void (*attention)(const AttentionFloatArgs&);
  void (*logit_sums)(const LogitSumsArgs&);
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
  const FloatKernels* float32 = nullptr;  // null: this build runs no float32 files (GOLDCREST_FLOAT32)
};

// Row counts that a backend is chosen for or not: 1, up to 4, up to 16, more.
constexpr uint32_t kRowClasses = 4;
constexpr uint32_t row_class(uint32_t rows) { return rows == 1 ? 0 : rows <= 4 ? 1 : rows <= 16 ? 2 : 3; }

// What a backend made of one layer's weights for one engine, found by the layer's LinearView.
struct PreparedLayer {
  uint32_t weights, n;   // of the view
  uint32_t row_classes;  // bit c: the backend computes calls with rows of class c; the native table does the others
  void* object;          // the backend's

  bool computes(uint32_t rows) const { return (row_classes >> row_class(rows) & 1) != 0; }
};

// What a backend gives to one engine; all of it lies in PrepareArgs.memory.
struct Prepared {
  const Kernels* kernels;
  const PreparedLayer* layers;  // [n_layers], ascending by (weights, n)
  uint32_t n_layers;
};

// Which layers a backend computes: none, all, or each where it measured faster than the native table.
enum class BackendUse : uint32_t { kNone, kAll, kWhereFaster };

struct PrepareArgs {
  const void* model;  // checked
  size_t model_bytes;
  const Kernels* native;  // for all that is not a linear layer
  const goldcrest_limits* limits;
  goldcrest_parallel_for parallel_for;
  void* parallel_context;
  void* memory;
  size_t memory_bytes;
  BackendUse use;
};

// The tables that this build has and this CPU runs, best first; null past the end. All are exact.
const Kernels* kernels_at(uint32_t index);

// The table for `name`; null name: the best that this CPU runs (the environment variable GOLDCREST_KERNELS overrides it
// where there is one). Null for a name that this build or CPU lacks. A name that asks for a backend gives the table
// that it borrows from.
const Kernels* select_kernels(const char* name);

// What `name`, or GOLDCREST_KERNELS for null, wants of a backend: "xnnpack" all layers, "fastest" where it is faster.
BackendUse backend_use(const char* name);

// A fixed vector through linear, layer norm and soft-max gives the hash that the reference gave: this build keeps the
// bits. scratch: [kBuildCheckBytes], aligned to 64 bytes, so that small stacks suffice
constexpr uint32_t kBuildCheckBytes = 2048;
bool kernels_compute_reference_bits(const Kernels& kernels, void* scratch);

}  // namespace goldcrest

// The first member of every backend's object; prepare returns a status. See goldcrest_config.backend.
struct goldcrest_backend {
  int (*prepare)(const goldcrest_backend& backend, const goldcrest::PrepareArgs& args, goldcrest::Prepared* prepared,
                 goldcrest_detail* detail);
};
