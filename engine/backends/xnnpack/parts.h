// SPDX-License-Identifier: Apache-2.0
// Lays out the caller's memory: `weights` holds the objects of a model, `backend_memory` those of an engine.
#pragma once

#include "backends/backend.h"
#include "backends/xnnpack/layer_walk.h"
#include "backends/xnnpack/table.h"
#include "base/align.h"

namespace goldcrest {
// Returns the tensor at this offset of the file, in units.
template <typename T> const T* tensor(const void* file, uint32_t units) {
  return reinterpret_cast<const T*>(static_cast<const uint8_t*>(file) + size_t{units} * kAlignment);
}

// The number of a model's layers and their largest dimensions.
struct Extent {
  uint32_t n_layers = 0, widest_input = 0, widest_output = 0, widest_residual = 0;
  bool is_float = false;
};

Extent extent_of(const ModelView& model);

// Takes arrays from a block of memory one after another. Without memory it only counts.
class Space {
 public:
  Space(void* memory, size_t n_bytes) : memory_(static_cast<uint8_t*>(memory)), n_bytes_(n_bytes) {}

  template <typename T> T* take(size_t n) {
    const uint64_t start_bytes = used_bytes_;
    used_bytes_ += align_bytes(uint64_t{n} * sizeof(T));
    return memory_ != nullptr ? reinterpret_cast<T*>(memory_ + start_bytes) : nullptr;
  }
  uint64_t used_bytes() const { return used_bytes_; }
  bool overflowed() const { return used_bytes_ > n_bytes_; }
 private:
  uint8_t* memory_;
  uint64_t n_bytes_, used_bytes_ = 0;
};

// The object that goldcrest_xnnpack_open places at the start of `weights`.
struct XnnpackModel {
  goldcrest_backend backend;
  const void* file;
  size_t file_bytes;
  xnnpack::PackedWeights weights;
  void* provider;
};

struct ModelParts {
  XnnpackModel* model;
  uint8_t* provider;  // [provider_bytes()]
  size_t* offsets;    // [n_layers]
  uint8_t* packed;    // [the rest]
};

ModelParts lay_out_model(Space& space, const Extent& extent);

// Buffers to compute a layer with rows of zeros.
struct Trial {
  uint8_t* x;     // [rows, widest input] and what XNNPACK reads after it
  float* scales;  // [rows]
  float* y;       // [rows, widest output]
  uint32_t rows;
};

struct EngineParts {
  XnnpackEngine* engine;
  XnnpackLayer* layers;          // [n_layers]
  xnnpack::Operator* operators;  // [n_layers, lanes]
  XnnpackLane* lanes;            // [lanes]
  xnnpack::RowScale* scales;     // [lanes, scales_stride]
  float* sums;                   // [lanes, kResidualRows, widest residual]
  Trial trial;
  uint8_t* objects;  // XNNPACK's, [n_layers, lanes] of operator_bytes
  size_t scales_stride, objects_bytes;
};

EngineParts lay_out_engine(Space& space, const Extent& extent, const goldcrest_limits& limits);

// Describes a layer to XNNPACK. rows: the int8 weights row by row [n, k]. XNNPACK reads them only while it packs the
// layer; later any non-null pointer will do.
xnnpack::Layer layer_of(const void* file, const LayerCall& call, const int8_t* rows);

// goldcrest_backend.prepare of an XnnpackModel.
int prepare_engine(
    const goldcrest_backend& backend, const PrepareArgs& args, const Kernels** kernels, goldcrest_detail* detail);
}  // namespace goldcrest
