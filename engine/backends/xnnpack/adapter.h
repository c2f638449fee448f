// SPDX-License-Identifier: Apache-2.0
// All that the engine uses of XNNPACK: fully connected operators whose weights are packed once and shared, made in
// memory that the caller gives. adapter.cc alone includes its header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "goldcrest/goldcrest.h"

namespace goldcrest::xnnpack {

// A fully connected layer. Its matrix is row by row [n, k], and needed only while it is packed.
struct Layer {
  size_t n, k, output_stride;  // elements
  const int8_t* int8_weights;
  const float* float_weights;  // null: the layer is int8
  const float* scale;          // [n], of int8 weights
  const float* bias;           // [n]
  bool relu;
};

// Packed weights of a model's layers: packed one after another, then only read.
struct PackedWeights {
  uint8_t* bytes;
  size_t n_bytes;
  size_t* offsets;  // [layers]; kNotPacked: not there yet
};
constexpr size_t kNotPacked = SIZE_MAX;

// Memory for operators, used from its start on.
struct Region {
  uint8_t* next;
  uint8_t* end;
};

// The dynamic quantization of a row, as XNNPACK has it.
struct RowScale {
  int32_t zero_point;
  float scale;
};
extern const uint32_t kExtraRowScales;   // entries behind the last row's that its kernels read
extern const uint32_t kExtraInputBytes;  // bytes behind the last input that its kernels read, at most kAlignment

// An operator, for one caller at a time.
struct Operator {
  void* handle;
  void* threads;  // pthreadpool_t of the last call
  uint32_t rows;  // of the last call; 0: none yet
};

// Initializes XNNPACK with an allocator that uses the regions given below. UNSUPPORTED: not on this CPU; STATE: another
// part of the program came first.
int initialize(goldcrest_detail* detail);

// Bytes that an operator takes in a region, and that a layer's weights take when packed (of the layer, its dimensions
// and which of the weights is not null matter). 0: XNNPACK does not make the operator.
size_t operator_bytes(bool is_float);
size_t packed_bytes(const Layer& layer);

// The provider through which operators find packed weights: an object of provider_bytes() that refers to `weights`.
size_t provider_bytes();
void make_provider(void* provider, const PackedWeights* weights);

// Packs a layer's weights as entry `index` behind the *used_bytes that are used, and adds its own.
bool pack(const Layer& layer, size_t index, void* provider, const PackedWeights& weights, size_t* used_bytes);

// Makes an operator over entry `index` in `region`.
bool make_operator(const Layer& layer, size_t index, void* provider, const PackedWeights& weights, Region* region,
                   Operator* made);

// y [rows, output_stride] = x [rows, k] times the layer's weights, scaled, plus bias. threads: a pthreadpool_t or null.
bool run_int8(Operator& op, const int8_t* x, const RowScale* scales, uint32_t rows, float* y, void* threads);
bool run_float(Operator& op, const float* x, uint32_t rows, float* y, void* threads);

}  // namespace goldcrest::xnnpack
