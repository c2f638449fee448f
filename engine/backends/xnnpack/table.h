// SPDX-License-Identifier: Apache-2.0
// The kernel table `xnnpack` of one engine: XNNPACK's operators compute linear layers, the native table the rest.
#pragma once

#include <atomic>
#include "backends/xnnpack/adapter.h"
#include "kernels/kernels.h"

namespace goldcrest {
constexpr uint32_t kResidualRows = 64;  // rows whose sums wait for their residual at a time

// The classes of row counts for which XNNPACK is chosen or not: 1, up to 4, up to 16, more.
constexpr uint32_t kRowClasses = 4;
constexpr uint32_t kAllRowClasses = (1u << kRowClasses) - 1;
constexpr uint32_t row_class(uint32_t rows) { return rows == 1 ? 0 : rows <= 4 ? 1 : rows <= 16 ? 2 : 3; }

// A layer that XNNPACK may compute. Its weights and its number of outputs identify it.
struct XnnpackLayer {
  const void* w;
  uint32_t n;
  uint32_t row_classes;          // bit c: XNNPACK computes calls with rows of class c; the native table does the others
  bool relu;                     // the operators apply it
  xnnpack::Operator* operators;  // [n_lanes]

  bool computes(uint32_t rows) const { return (row_classes >> row_class(rows) & 1) != 0; }
};

// The private memory of a task while it computes a layer.
struct XnnpackLane {
  std::atomic<bool> taken;
  xnnpack::RowScale* scales;  // [most rows + kExtraRowScales]
  float* sums;                // [kResidualRows, widest layer with a residual]
};

// Kernels.backend
struct XnnpackEngine {
  Kernels table;
  TypedKernels<float> float_table;
  const Kernels* native;
  void* threads;         // pthreadpool_t; null: only the caller's thread
  XnnpackLane* lanes;    // [n_lanes]
  XnnpackLayer* layers;  // [n_layers], ascending by (w, n) once they are sorted
  uint32_t n_lanes;      // as many as tasks
  uint32_t n_layers;
};

// Fills in engine->table and engine->float_table from engine->native.
void make_xnnpack_table(const char* name, XnnpackEngine* engine);

// Sorts engine->layers, so that find_layer finds them.
void sort_layers(XnnpackEngine* engine);

// Returns the layer with n outputs of the weights w; null if there is none.
XnnpackLayer* find_layer(const XnnpackEngine& engine, const void* w, uint32_t n);
}  // namespace goldcrest
