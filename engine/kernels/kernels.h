// SPDX-License-Identifier: Apache-2.0
// The contract of the kernel tables. reference.cc is the specification: every table equals it bit for bit, for
// arguments with any bits. The caller pads rows and columns to multiples of 16; no kernel touches memory beyond the
// shapes.
//
// Each ISA, and each core that needs its own order of instructions, is one translation unit that exports one const
// table. A slot that is not worth writing points to the reference.
//
// The only exception is a backend: a library of compute kernels outside the tables (XNNPACK, goldcrest/xnnpack.h). The
// table that it gives an engine is close, not equal. For a linear layer, before the activation,
//   |y - reference y| <= 2^-21 * (|sum * x_scale * w_scale| + |bias|) + 2^-126
// because the sums are the same integers, and each side rounds them at most three times: the reference in two
// multiplications and an addition, the backend in two of each, some of them fused. This is at most six halves of an
// ulp, and the backend may turn results below 2^-126 into 0. Logits, for the same source and the same earlier tokens,
// are within kCloseLogits of the position's largest magnitude. A last bit can move a value from one int8 step to the
// next, and later layers amplify that.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "model/model_view.h"

namespace goldcrest {
// The largest difference between the logits of a backend and of the reference, relative to the position's largest
// magnitude.
constexpr float kCloseLogits = 0.0625f;

// The arguments of the operations. Element is the type of the weights, of the inputs of linear layers and of keys and
// values: int8_t, or float for float32 files (FORMAT.md, "Float32 files"), which have no scales and are stored row by
// row.

// Quantizes rows to inputs of a linear layer, or to keys or values. With amax = max |x| of a row:
//   int8   amax < 2^-40 or > 2^56 (or not a number): q = 0, scale = 0
//          else q = round_half_even(x * (127 / amax)), scale = amax / 127, symmetric in [-127, 127]
//   float  a copy without values that could lead to an infinity or a denormal: q = x, but 0 if |x| < 2^-60;
//          amax < 2^-40 or > 2^56 (or not a number): the whole row is 0
template <typename Element> struct QuantizeRowsArgs {
  const float* x;                           // [rows, n], row stride x_stride
  Element* q;                               // [rows, n], row stride q_stride; float: may be x
  float* scale;                             // [rows], stride scale_stride; float: null
  size_t x_stride, q_stride, scale_stride;  // elements
  uint32_t rows, n;                         // n % 16 == 0
};

// An element of a fine row, a query, key or value of 16 bits, is (high * kHighStep + low) * scale. A fine row of n
// elements has n high numbers and then n low ones. With amax = max |x|, and y = x * (127 / amax):
//   amax < 2^-32 or > 2^56 (or not a number): high = low = 0, scale = 0
//   else high = round_half_even(y), low = round_half_even((y - high) * kHighStep), scale = amax / kFineSteps
constexpr float kHighStep = 254.0f, kFineSteps = 127.0f * kHighStep;

// Scratch for a re-encoded copy of x. The first call on the same rows fills it; later calls reuse it. Only x86_avx2 and
// the tables of AVX-512 need it, so only builds that may contain these tables spend the stack.
#if defined(__x86_64__)
constexpr bool kSharesInputs = true;
#else
constexpr bool kSharesInputs = false;
#endif
struct SharedInputs {
  uint8_t* bytes;  // aligned to 64
  size_t n_bytes;
  bool made = false;
};
template <size_t kBytes = 43008> struct InputSpace {
  alignas(64) uint8_t bytes[kSharesInputs ? kBytes : 64];
  SharedInputs shared = {bytes, sizeof bytes};
};

// y[m, j] = activation(product[m, j] + bias[j]) + residual[m, j], where product[m, j] is
//   int8   float(sum over k of x[m, k] * w[j, k]) * (x_scale[m] * w_scale[j])
//   float  sum over k of x[m, k] * w[j, k], as 16 strided partial sums and a fixed tree
template <typename Element> struct LinearArgs {
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
  const void* backend = nullptr;  // Kernels.backend
  bool is_only_task = false;      // no other task of this engine runs: a backend may use all threads
  // Not null: multipliers of a packed w (model/packed.h), aligned to 16. int8 only, by linear_packed or in firmware.
  const int8_t* multipliers = nullptr;
  SharedInputs* shared = nullptr;  // for x; null: no other call reads the same rows
  [[gnu::always_inline]] bool is_packed() const { return has_packed(multipliers != nullptr); }
};

// Embeds one token.
//   int8   y[j] = float(w[token, j]) * (w_scale[token] * embedding_scale) + position[j]
//   float  y[j] = w[token, j] * embedding_scale + position[j]
template <typename Element> struct EmbedArgs {
  const Element* w;       // [vocab_size padded, n] in `layout`
  const float* w_scale;   // [vocab_size padded]; float: null
  const float* position;  // [n]
  float* y;               // [n]
  uint32_t token, n;
  float embedding_scale;
  Layout layout;  // float: kRowMajor
};

// Scaled dot-product attention of some query rows over one sentence's keys and values (Vaswani et al. 2017, eq. 1). A
// head's query passes quantize_rows. Its products with the keys, and the products of weights and values, are
//   int8   exact sums times both scales; weights are multiplied by the value's scale first, then by the values
//   float  sums as in LinearArgs
//
// With `integer`, weights are integers of at most 14 bits, so that kernels may add their products in any order. e[t] is
// short_exp_float(score[t] - the largest score), u[t] = e[t] * |the value's scale|, both sums have 16 strided parts,
// and
//   f = min(kLargestWeight / max u, kLargestWeightSum / sum u),  q[t] = round_half_even(u[t] * f)
//   out[j] = float(exact sum over t of q[t] * v[t, j]) * ((1 / sum e) / f)
// If max u is below kSmallestScaled, above kLargestScaled, or some u is not a number, then out is +0.
//
// Key t of row r is in row  t * position_stride + (ancestor ? ancestor[t * ancestor_stride + r] : 0)  of its head.
// Score of row r with key t in head h: product * scale, then + bias[h * bias_stride + r * bias_step + t]; each
// operation is rounded once. A row's biases may be read up to the padding of n_keys to a multiple of 16.
constexpr float kLargestWeight = 16383.0f, kLargestWeightSum = 0x1p24f;
constexpr float kSmallestScaled = 0x1p-80f, kLargestScaled = 0x1p60f;

template <typename Element> struct AttentionArgs {
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
  const float* bias = nullptr;             // for head 0 and row 0; null: none
  size_t bias_stride = 0;                  // elements from one head to the next
  int32_t bias_step = 0;                   // from one row to the next
  // Rows from `keys` to those of the call that follows, whose ancestors are as far after `ancestor`. Only prefetches
  // use it. 0: not known
  size_t to_next = 0;
  bool integer = false;  // read it with has_integers(); only int8, and n_keys is at most kMostIntegerKeys

  [[gnu::always_inline]] bool has_integers() const { return kHasAccuracy && integer; }
};

constexpr uint32_t kOutputBlock = 256;  // outputs in one block of the log-sum-exp

// Computes one block of the output layer: logits, the largest of them, and the sum of exp(logit - largest).
template <typename Element> struct OutputBlockArgs {
  LinearArgs<Element> linear;  // n: the block's outputs, padded; y: logits, row stride kOutputBlock
  uint32_t count;              // the block's outputs, not padded, 1..256
  float* block_max;            // [rows], stride `stride`; null: compute neither
  float* block_sum;            // [rows], stride `stride`
  size_t stride;               // elements
};

// Computes the sums of an output block from its logits: the largest of each row's first `count`, and the sum of
// exp(logit - largest).
struct LogitSumsArgs {
  const float* logits;           // [rows, count], row stride logits_stride
  float* block_max;              // [rows], stride `stride`
  float* block_sum;              // [rows], stride `stride`
  size_t logits_stride, stride;  // elements
  uint32_t rows, count;          // count >= 1
};

// Fine inputs in one pass, by Kernels.quantize_fine_inputs and linear_fine: only the tables of x86 have these slots.
// kMostFineInputs: of a layer of linear_fine.
constexpr bool kHasOnePass = kSharesInputs;
constexpr uint32_t kMostFineInputs = 8192;

// Bounds of Kernels.linear_packed.
constexpr uint32_t kMostPackedRows = kSharesInputs ? UINT32_MAX : 4, kMostPackedInputs = 8192;

// y = ((x - mean) * (1 / sqrt(mean((x - mean)^2) + epsilon))) * gamma + beta, row by row over the first n columns. Rows
// that are not centred have the mean 0.
struct LayerNormArgs {
  const float* x;      // [rows, n_padded], row stride `stride`
  float* y;            // likewise; may be x
  const float* gamma;  // [n_padded]
  const float* beta;   // [n_padded]
  size_t stride;       // elements
  uint32_t rows, n, n_padded;
  float epsilon;
  bool centred = true;
};

// Computes one row of a recurrent block. With f = sigmoid(forget[j]),
//   cell[j] = f * past[j] + (1 - f) * input[j]; +0 where |cell[j]| is below 2^-60 or not a number
//   y[j] = y[j] + (cell[j] > 0 ? cell[j] : 0)
struct RecurrenceArgs {
  const float* input;   // [n]
  const float* forget;  // [n]
  const float* past;    // [n], of the previous position; null: +0
  float* cell;          // [n]
  float* y;             // [n]
  uint32_t n;           // n % 16 == 0
};

// The largest numbers so far and their tokens, in descending order; equal numbers by ascending token.
struct LargestNumbers {
  float* values;    // [capacity]
  int32_t* tokens;  // [capacity]
  uint32_t* count;
  uint32_t capacity;

  // Returns the bound that a number must exceed to enter.
  float bound() const { return *count == capacity ? values[capacity - 1] : -__builtin_huge_valf(); }
};

// Inserts each x that exceeds the list's bound, so neither -infinity nor NaN. A full list then loses its last number.
struct ListLargestArgs {
  const float* x;        // [n]
  const uint32_t* ids;   // [n] tokens, ascending; null: the token of x[i] is first_token + i
  uint32_t first_token;  // the tokens of x, by ids too, are larger than those in the list
  uint32_t n;            // <= 256
  LargestNumbers list;

  int32_t token(uint32_t i) const { return static_cast<int32_t>(ids != nullptr ? ids[i] : first_token + i); }
};

// The operations that depend on the weights' type.
template <typename Element> struct TypedKernels {
  void (*quantize_rows)(const QuantizeRowsArgs<Element>&);
  void (*linear)(const LinearArgs<Element>&);
  void (*embed)(const EmbedArgs<Element>&);
  void (*attention)(const AttentionArgs<Element>&);
  void (*output_block)(const OutputBlockArgs<Element>&);
};

struct Kernels {
  const char* name;       // goldcrest_kernels_name() returns it
  uint32_t cpu_features;  // CpuFeature bits that it needs; 0 runs anywhere
  TypedKernels<int8_t> int8;
  const TypedKernels<float>* float32;  // null: this build runs no float32 files (GOLDCREST_FLOAT32)
  void (*layer_norm)(const LayerNormArgs&);
  // Computes the sums of a block from finished logits: rules have changed them, or they have fine inputs. Logits may be
  // -infinity. null: this build has neither (GOLDCREST_SEARCH, GOLDCREST_ACCURACY).
  void (*logit_sums)(const LogitSumsArgs&);
  // Ends a linear layer with fine inputs: y = activation((p + bias) + p') + residual. p is [2, rows, n]: the products
  // of all rows of inputs, then p', those of their remainders. `linear` computed them with biases of +0, so p' is never
  // -0. Inputs and weights are not read. null: this build has no fine inputs (GOLDCREST_ACCURACY).
  void (*finish_fine)(const LinearArgs<int8_t>&, const float* p);
  // Fine inputs in one pass; null: this table has none. The first has the bits of quantize_rows twice, where q is
  // [2 * rows, n]: inputs, and then their remainders, q * -scale + x; `remainders` is scratch [n]. The second has those
  // of `linear` and finish_fine; it needs layout kN16K4 and k of at most kMostFineInputs, and its x is [2 * rows, k].
  void (*quantize_fine_inputs)(const QuantizeRowsArgs<int8_t>&, float* remainders);
  void (*linear_fine)(const LinearArgs<int8_t>&);
  // With fine rows: quantize_rows, where q is [rows, 2 * n], and attention, where queries, keys and values are fine and
  // q_row is [3 * d_head]. A product of two rows is (float(high . high) * kHighStep + float(high . low + low . high)) *
  // kHighStep, times both scales. null: this build has neither (GOLDCREST_ACCURACY).
  void (*quantize_fine)(const QuantizeRowsArgs<int8_t>&);
  void (*fine_attention)(const AttentionArgs<int8_t>&);
  // The product of packed weights has the bits of int8.linear over the int8 weights that they are. It needs layout
  // kN16K4, at most kMostPackedRows rows and a k of at most kMostPackedInputs. Others, and all if this is null, are
  // expanded for int8.linear (reference/packed.cc). In firmware int8.linear takes packed weights.
  void (*linear_packed)(const LinearArgs<int8_t>&);
  void (*recurrence)(const RecurrenceArgs&);  // null: this build runs no recurrent layers (GOLDCREST_LAYERS)
  void (*list_largest)(const ListLargestArgs&);
  // Continues the CRC-32C `crc` with n bytes.
  uint32_t (*crc32c)(uint32_t crc, const void* bytes, size_t n);
  // Returns whether every weight is in [-127, 127] and weight_sum has every row's sum.
  bool (*weights_valid)(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);
  // Only in a table that a backend made for an engine; both are null in all others. `backend` is LinearArgs.backend.
  // The function tells whether `linear` over all n outputs of the weights `w` splits itself over threads; the engine
  // then does not split it.
  const void* backend;
  bool (*parallelizes_itself)(const void* backend, const void* w, uint32_t n, uint32_t rows);
};

// Returns a table without the kernels of options that this build lacks, so that they are not linked.
constexpr Kernels for_this_build(Kernels table) {
  if constexpr (!kHasFloat32) table.float32 = nullptr;
  if constexpr (!kHasLayers) table.recurrence = nullptr;
  if constexpr (!kHasAccuracy) {
    if constexpr (!kHasSearch) table.logit_sums = nullptr;
    table.finish_fine = nullptr;
    table.quantize_fine_inputs = nullptr;
    table.linear_fine = nullptr;
    table.quantize_fine = nullptr;
    table.fine_attention = nullptr;
    table.linear_packed = nullptr;
  }
  return table;
}

// Returns table `index` of those that this build has and this CPU runs, best first; null past the end. All are exact.
const Kernels* kernels_at(uint32_t index);

// Returns `name`; for null the value of the environment variable GOLDCREST_KERNELS, if there is an environment.
const char* wanted_kernels(const char* name);

// Returns the table for wanted_kernels(name); for null the best that this CPU runs. Returns null for a name that this
// build or CPU lacks.
const Kernels* select_kernels(const char* name);

// Tells people why select_kernels(null) takes its table. Only on machines with an operating system.
const char* kernels_reason();

// Returns whether this build keeps the bits: a fixed vector through linear, layer norm and soft-max must give the same
// hash as the reference gave. scratch: [kBuildCheckBytes], aligned to 64 bytes; it spares small stacks.
constexpr uint32_t kBuildCheckBytes = 2048;
bool kernels_compute_reference_bits(const Kernels& kernels, void* scratch);
}  // namespace goldcrest
