// SPDX-License-Identifier: Apache-2.0
// The part of XNNPACK that the engine uses: fully connected operators, made in the caller's memory. Their weights are
// packed once and shared. Only adapter.cc includes XNNPACK's header.
#pragma once

#include <cstddef>
#include <cstdint>
#include "goldcrest/goldcrest.h"

namespace goldcrest::xnnpack {
// A fully connected layer. Its matrix is stored row by row [n, k] and is needed only while it is packed.
struct Layer {
  size_t n, k, output_stride;  // elements
  const int8_t* int8_weights;
  const float* float_weights;  // null: the layer is int8
  const float* scale;          // [n], only for int8 weights
  const float* bias;           // [n]
  bool relu;
};

// The packed weights of a model's layers. They are packed one after another and then only read.
struct PackedWeights {
  uint8_t* bytes;
  size_t n_bytes;
  size_t* offsets;  // [layers]; kNotPacked: not packed yet
};
constexpr size_t kNotPacked = SIZE_MAX;

// Memory for operators, used from its start on.
struct Region {
  uint8_t* next;
  uint8_t* end;
};

// The dynamic quantization of a row, in XNNPACK's format.
struct RowScale {
  int32_t zero_point;
  float scale;
};
extern const uint32_t kExtraRowScales;   // entries after the last row's that its kernels read
extern const uint32_t kExtraInputBytes;  // bytes after the last input that its kernels read, at most kAlignment

// An operator, for one caller at a time.
struct Operator {
  void* handle;
  void* threads;  // pthreadpool_t of the last call
  uint32_t rows;  // in the last call; 0: none yet
};

// Initializes XNNPACK with an allocator that uses the regions given below. ERROR_UNSUPPORTED: XNNPACK does not run on
// this CPU. ERROR_STATE: another part of the program initialized it before.
int initialize(goldcrest_detail* detail);

// operator_bytes: the bytes of an operator in a region. packed_bytes: the bytes of a layer's packed weights, which
// depend only on its dimensions and on the type of its weights. 0: XNNPACK does not make the operator.
size_t operator_bytes(bool is_float);
size_t packed_bytes(const Layer& layer);

// Makes the provider through which operators find packed weights: an object of provider_bytes() that refers to
// `weights`.
size_t provider_bytes();
void make_provider(void* provider, const PackedWeights* weights);

// Packs a layer's weights as entry `index` after the first *used_bytes, and adds their bytes to *used_bytes.
bool pack(const Layer& layer, size_t index, void* provider, const PackedWeights& weights, size_t* used_bytes);

// Makes an operator over entry `index` in `region`.
bool make_operator(
    const Layer& layer, size_t index, void* provider, const PackedWeights& weights, Region* region, Operator* made);

// y [rows, output_stride] = x [rows, k] times the layer's weights, scaled, plus bias. threads: a pthreadpool_t or null.
bool run_int8(Operator& op, const int8_t* x, const RowScale* scales, uint32_t rows, float* y, void* threads);
bool run_float(Operator& op, const float* x, uint32_t rows, float* y, void* threads);
}  // namespace goldcrest::xnnpack
