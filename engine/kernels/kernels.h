// SPDX-License-Identifier: Apache-2.0
// The contract of the kernel tables. reference.cc is the specification: every table equals it bit for bit, whatever the
// arguments' bits. Rows and columns are padded to multiples of 16 by the caller; no kernel touches memory beyond the
// shapes.
//
// An ISA, or a core that wants another order of its instructions, is one translation unit that exports one const table;
// a slot not worth writing points at the reference.
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

// What the operations read and write. Element is the type of the weights, of the inputs of linear layers and of keys
// and values: int8_t, or float in float32 files (FORMAT.md, "Float32 files"), which have no scales and lie row by row.

// Makes rows inputs of a linear layer, or keys or values. With amax = max |x| of a row:
//   int8   amax < 2^-40 or > 2^56 (or not a number): q = 0, scale = 0
//          else q = round_half_even(x * (127 / amax)), scale = amax / 127, symmetric in [-127, 127]
//   float  a copy, but for what could make an infinity or a denormal further on: q = x; where |x| < 2^-60, 0;
//          amax < 2^-40 or > 2^56 (or not a number): all of the row 0
template <typename Element>
struct QuantizeRowsArgs {
  const float* x;                           // [rows, n], row stride x_stride
  Element* q;                               // [rows, n], row stride q_stride; float: may be x
  float* scale;                             // [rows], stride scale_stride; float: null
  size_t x_stride, q_stride, scale_stride;  // elements
  uint32_t rows, n;                         // n % 16 == 0
};

// Room for what a table makes of a layer's inputs, which several calls share that multiply the same rows: the first
// makes it. Only x86_avx2 does, and only where that may be is it worth the stack.
#if defined(__x86_64__)
constexpr bool kSharesInputs = true;
#else
constexpr bool kSharesInputs = false;
#endif
struct SharedInputs {
  bool made = false;
  alignas(64) uint8_t bytes[kSharesInputs ? 43008 : 64];
};

// y[m, j] = activation(product[m, j] + bias[j]) + residual[m, j], where product[m, j] is
//   int8   float(sum over k of x[m, k] * w[j, k]) * (x_scale[m] * w_scale[j])
//   float  sum over k of x[m, k] * w[j, k], as 16 strided partial sums and a fixed tree
template <typename Element>
struct LinearArgs {
  const Element* x;           // [rows, k], of quantize_rows
  const float* x_scale;       // [rows]; float: null
  const Element* w;           // [n, k] in `layout`
  const float* w_scale;       // [n]; float: null
  const float* bias;          // [n]
  const int32_t* weight_sum;  // [n], the sum over k of w[j, k], for instructions that multiply unsigned by signed;
                              // float: null
  const float* residual;      // [rows, n], row stride y_stride; null: none; may be y
  float* y;                   // [rows, n], row stride y_stride
  size_t y_stride;            // elements
  uint32_t rows, n, k;        // n % 16 == 0, k % 16 == 0
  Layout layout;              // float: kRowMajor
  Activation activation;
  const void* backend = nullptr;   // Kernels.backend
  bool alone = false;              // no other task of this engine runs: a backend may use all threads
  SharedInputs* shared = nullptr;  // of x; null: no other call multiplies the same rows
};

// One row of an embedding.
//   int8   y[j] = float(w[token, j]) * (w_scale[token] * embedding_scale) + position[j]
//   float  y[j] = w[token, j] * embedding_scale + position[j]
template <typename Element>
struct EmbedArgs {
  const Element* w;       // [vocab_size padded, n] in `layout`
  const float* w_scale;   // [vocab_size padded]; float: null
  const float* position;  // [n]
  float* y;               // [n]
  uint32_t token, n;
  float embedding_scale;
  Layout layout;  // float: kRowMajor
};

// Scaled dot-product attention of some query rows over one sentence's keys and values (Vaswani et al. 2017, eq. 1). A
// head's query goes through quantize_rows. Its products with keys, and these times values, are
//   int8   exact sums times both scales, and weights times the value's scale before they meet the values
//   float  sums as in LinearArgs
// Key t of row r lies at row  t * position_stride + (ancestor ? ancestor[t * ancestor_stride + r] : 0)  of its head.
template <typename Element>
struct AttentionArgs {
  const float* q;             // [rows, n_heads, d_head], row stride q_stride
  const Element* keys;        // head h at h * head_stride * d_head; rows of [d_head], of quantize_rows
  const Element* values;      // likewise
  const float* key_scales;    // head h at h * head_stride; float: null
  const float* value_scales;  // likewise
  const uint8_t* ancestor;    // [n_keys, ancestor_stride] or null
  float* out;                 // [rows, n_heads, d_head], row stride out_stride
  float* weights;             // scratch [n_keys padded to 16]
  Element* q_row;             // scratch [d_head]
  size_t q_stride, out_stride, head_stride, position_stride, ancestor_stride;
  uint32_t rows, n_keys, n_heads, d_head;  // n_keys >= 1
  float scale;                             // usually 1 / sqrt(d_head)
};

constexpr uint32_t kOutputBlock = 256;  // outputs in one block of the log-sum-exp

// One block of the output layer: logits, their largest and the sum of exp(logit - largest).
template <typename Element>
struct OutputBlockArgs {
  LinearArgs<Element> linear;  // n: the block's outputs, padded; y: logits, row stride kOutputBlock
  uint32_t count;              // the block's outputs, not padded, 1..256
  float* block_max;            // [rows], stride `stride`; null: neither is wanted
  float* block_sum;            // [rows], stride `stride`
  size_t stride;               // elements
};

// What follows the logits of an output block: the largest of each row's first `count` and the sum of
// exp(logit - largest).
struct LogitSumsArgs {
  const float* logits;           // [rows, count], row stride logits_stride
  float* block_max;              // [rows], stride `stride`
  float* block_sum;              // [rows], stride `stride`
  size_t logits_stride, stride;  // elements
  uint32_t rows, count;          // count >= 1
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

// One row of a recurrent block: with f = sigmoid(forget[j]),
//   cell[j] = f * past[j] + (1 - f) * input[j]; +0 where |cell[j]| is below 2^-60 or not a number
//   y[j] = y[j] + (cell[j] > 0 ? cell[j] : 0)
struct RecurrenceArgs {
  const float* input;   // [n]
  const float* forget;  // [n]
  const float* past;    // [n], of the position before; null: +0
  float* cell;          // [n]
  float* y;             // [n]
  uint32_t n;           // n % 16 == 0
};

// The indices, ascending, of all x that are at least `threshold` and, where `largest` is not 0, at least the largest-th
// of 16 maxima, the i-th of x[i], x[i + 16] ...: whatever is among that many largest of x is listed, and little else.
struct ListLargestArgs {
  const float* x;    // [n]; what is not a number is never listed
  uint8_t* indices;  // [n]
  uint32_t n;        // <= 256
  uint32_t largest;  // <= 16
  float threshold;
};

// The operations that differ by the weights' type.
template <typename Element>
struct TypedKernels {
  void (*quantize_rows)(const QuantizeRowsArgs<Element>&);
  void (*linear)(const LinearArgs<Element>&);
  void (*embed)(const EmbedArgs<Element>&);
  void (*attention)(const AttentionArgs<Element>&);
  void (*output_block)(const OutputBlockArgs<Element>&);
};

struct Kernels {
  const char* name;       // what goldcrest_kernels_name() returns
  uint32_t cpu_features;  // CpuFeature bits that it needs; 0 runs anywhere
  TypedKernels<int8_t> int8;
  const TypedKernels<float>* float32;  // null: this build runs no float32 files (GOLDCREST_FLOAT32)
  void (*layer_norm)(const LayerNormArgs&);
  // Sums of a block of logits by themselves, where they are changed before; null: this build has no need of it
  // (GOLDCREST_RULES). Logits may be -infinity.
  void (*logit_sums)(const LogitSumsArgs&);
  void (*recurrence)(const RecurrenceArgs&);         // null: this build runs no recurrent layers (GOLDCREST_SSRU)
  uint32_t (*list_largest)(const ListLargestArgs&);  // the number of indices
  // CRC-32C, continued from `crc`.
  uint32_t (*crc32c)(uint32_t crc, const void* bytes, size_t n);
  // Every weight is in [-127, 127] and every row's sum is what weight_sum says.
  bool (*weights_valid)(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);
  // Of a table that a backend made for one engine; both null in all others. LinearArgs.backend, and whether `linear` of
  // all n outputs of the layer whose weights lie at `w` splits itself over threads, so that nobody else has to.
  const void* backend;
  bool (*computes_whole)(const void* backend, const void* w, uint32_t n, uint32_t rows);
};

// The tables that this build has and this CPU runs, best first; null past the end. All are exact.
const Kernels* kernels_at(uint32_t index);

// `name`, or for null what the environment variable GOLDCREST_KERNELS says, where there is one.
const char* wanted_kernels(const char* name);

// The table for wanted_kernels(name); for null the best that this CPU runs. Null for a name that this build or CPU
// lacks.
const Kernels* select_kernels(const char* name);

// Why select_kernels(null) takes what it takes, for people; on machines with an operating system.
const char* kernels_reason();

// A fixed vector through linear, layer norm and soft-max gives the hash that the reference gave: this build keeps the
// bits. scratch: [kBuildCheckBytes], aligned to 64 bytes, so that small stacks suffice
constexpr uint32_t kBuildCheckBytes = 2048;
bool kernels_compute_reference_bits(const Kernels& kernels, void* scratch);

}  // namespace goldcrest
