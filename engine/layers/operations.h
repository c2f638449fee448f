// SPDX-License-Identifier: Apache-2.0
// The operations that depend on the type of a file's weights, int8 or float32. An engine chooses one table of them when
// it starts; encoder, decoder and output layer know no type. With float32 files `quantize` copies the rows, into
// buffers four times as large, and there are no scales.
#pragma once

#include "base/build_options.h"
#include "base/types.h"
#include "layers/kv_cache.h"
#include "layers/parallel.h"

namespace goldcrest {
// The input rows of a linear layer.
struct LinearInputs {
  void* rows;     // [rows, k] int8 or float
  float* scales;  // [rows]; null for float
};

// Scratch of layers with remainders, for a row's remainder or for products. Each task that an operation is split into
// has n floats.
struct FineScratch {
  float* values;  // null: no remainder is multiplied
  size_t n;       // at least the row's k, and 16 * (2 * rows + 1)
  bool exists() const { return kHasAccuracy && values != nullptr; }
};

// The outputs whose products a scratch holds at least. With fewer, tables that rearrange the inputs for each call are
// slower.
constexpr uint32_t kFineOutputs = 64;

// The tensors of a linear layer: in the file, or a shortlist's copies.
struct LinearTensors {
  const void* weights;        // [n, k] in `layout`
  const float* scale;         // [n]; unused for float
  const float* bias;          // [n]
  const int32_t* weight_sum;  // [n]; unused for float
  uint32_t n, k;              // padded
  WeightType weight_type;
  bool fine_input;
  uint16_t panels_to_second;  // as in LinearView
  Layout layout;
  const int8_t* multipliers;  // null: not packed; read it with is_packed()

  [[gnu::always_inline]] uint32_t rows_to_second() const { return 16u * panels_to_second; }
  [[gnu::always_inline]] bool is_packed() const { return has_packed(multipliers != nullptr); }
};
LinearTensors tensors_of(const Runtime& runtime, const LinearView& view);

// y = activation(view(x)) + residual. The view may be a slice of a layer's outputs.
struct LinearCall {
  const LinearView* view;
  LinearInputs x;
  uint32_t rows;
  Activation activation;
  const float* residual;  // [rows, view->n], row stride y_stride; null: none; may be y
  float* y;               // [rows, view->n], row stride y_stride
  size_t y_stride;        // elements
  bool is_only_task;      // no other task of this engine runs
};

// The input rows of the output layer.
struct OutputInputs {
  LinearInputs x;    // if the outputs are fine and `fine` has values, with remainders after all rows
  FineScratch fine;  // all tasks'
};

// Computes the logits of some rows for at most 256 outputs.
struct OutputCall {
  const LinearTensors* outputs;
  uint32_t first, count;  // outputs; first % 16 == 0
  const OutputInputs& inputs;
  uint32_t rows;
  float* logits;  // [rows, count], row stride 256; also writes the padding of count to a multiple of 16
  SharedInputs* shared = nullptr;  // for x and rows; null: no other call reads them
  uint32_t task = 0;
};

// For one block of the output layer: each row's largest output, and its sum of exp(output - largest).
struct BlockSums {
  float* largest;  // [rows], stride `stride`; null: compute neither
  float* sum;      // [rows], stride `stride`
  size_t stride;   // elements
};

// One row's keys and values of all heads, to be stored in row `row` of a cache.
struct NewKeys {
  const float* key;    // [n_heads * d_head]
  const float* value;  // [n_heads * d_head]
  size_t row;
};

// Attention of some query rows of one sentence to their keys, for some heads.
struct AttentionCall {
  const float* query;  // [rows, n_heads * d_head], row stride query_stride
  float* out;          // [rows, n_heads * d_head], row stride n_heads * d_head
  size_t query_stride;
  uint32_t rows, n_keys;
  size_t first_key;         // row of the cache that holds key 0 of slot 0
  size_t position_stride;   // rows of the cache from one key to the next
  size_t to_next;           // and to key 0 of the call that follows, for prefetches only
  const uint8_t* ancestor;  // [n_keys, ancestor_stride]: slot of each key for each query row; null: slot 0
  size_t ancestor_stride;
  const float* bias;   // for head 0 and the first row; null: none
  size_t bias_stride;  // elements from one head to the next
  int32_t bias_step;   // from one row to the next
  Range heads;
  float* weights;   // scratch [n_keys padded to 16]
  void* query_row;  // scratch [d_head] of the cache's type, or [3 * d_head] bytes for fine rows
};

struct Operations {
  // inputs <- x [rows, n], row stride n; n % 16 == 0
  void (*quantize)(const Runtime&, const float* x, uint32_t rows, uint32_t n, const LinearInputs& inputs);
  // Computes a call, or the part of one that `task` computes. With remainders and scratch for them (int8 only):
  // y = activation((p + bias) + p') + residual, with the products p and p' of the inputs and of their remainders.
  // call.x: [2 * call.rows, k], the inputs of all rows and then their remainders, as one product of twice as many rows
  // reads each weight once. Without fine inputs: [call.rows, k], and p' is +0. With a second matrix, p and p' are sums:
  // the product with the second matrix, plus that with the first.
  void (*linear)(const Runtime&, const LinearCall&, const FineScratch&, uint32_t task);
  // Computes the logits of a block and their sums.
  void (*output_block)(const Runtime&, const OutputCall&, const BlockSums&);
  // x [d_model padded] <- table[token] * embedding_scale + positions[position]
  void (*embed)(const Runtime&, const StackView&, uint32_t token, uint32_t position, float* x);
  void (*store)(const Runtime&, const StackView&, const NewKeys&, const KvCache&);
  void (*attend)(const Runtime&, const StackView&, const AttentionCall&, const KvCache&);
};

extern const Operations kInt8Operations, kFloat32Operations;

// Returns the table for a file's weights.
inline const Operations* operations_for(WeightType type) {
  return kHasFloat32 && type == WeightType::kFloat32 ? &kFloat32Operations : &kInt8Operations;
}

inline const Operations& operations(const Runtime& runtime) {
  return kHasFloat32 ? *runtime.operations : kInt8Operations;
}
}  // namespace goldcrest
